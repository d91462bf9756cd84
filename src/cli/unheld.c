#include "cli/unheld.h"

#include <stdio.h>

#include "base/json.h"
#include "run/ceilings.h"

static void append(void *warnings, const char *sentence)
{
	json_array_append_new(
		warnings, json_pack("{s:s, s:s}", "code", "resource_ceiling", "message", sentence));
}

void unheld_add(const struct executor *e, const struct limits *ceiling, json_t *warnings)
{
	ceilings_unheld_by(ceiling, e, append, warnings);
}

void unheld_add_able(const char *id, const struct candidate *able, const struct limits *ceiling,
	json_t *warnings)
{
	ceilings_unheld(ceiling, able, id, append, warnings);
}

void unheld_print(const json_t *warnings)
{
	size_t i;
	json_t *w;

	json_array_foreach(warnings, i, w)
		fprintf(stderr, "cloop: warning: %s\n", json_get_string(w, "message"));
}
