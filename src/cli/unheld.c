#include "cli/unheld.h"

#include <stdio.h>

#include "base/json.h"
#include "base/mem.h"
#include "executor/executor.h"
#include "limits/render.h"
#include "run/ceilings.h"

void unheld_add(const struct executor *e, const struct limits *ceiling, json_t *warnings)
{
	struct candidate able = {0};

	if (executor_unavailable_reason(e))
		return;
	executor_capabilities(e, &able);
	unheld_add_able(e->id, &able, ceiling, warnings);
}

void unheld_add_able(const char *id, const struct candidate *able, const struct limits *ceiling,
	json_t *warnings)
{
	bool unheld[RESOURCE_COUNT];

	ceilings_unheld(ceiling, able, unheld);
	for (enum resource r = 0; r < RESOURCE_COUNT; r++) {
		auto_free char *line = render_unenforced(r, id);
		if (unheld[r])
			json_array_append_new(
				warnings, json_pack("{s:s, s:s}", "code", "resource_ceiling",
						  "message", line));
	}
}

void unheld_print(const json_t *warnings)
{
	size_t i;
	json_t *w;

	json_array_foreach(warnings, i, w)
		fprintf(stderr, "cloop: warning: %s\n", json_get_string(w, "message"));
}
