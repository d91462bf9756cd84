#include "cli/unheld.h"

#include <stdio.h>

#include "base/json.h"
#include "cli/cli.h"
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
	{
		auto_free char *message = cli_plain(json_get_string(w, "message"));
		const char *fix = json_get_string(w, "remediation");
		auto_free char *shown = fix ? cli_plain(fix) : NULL;
		fprintf(stderr, "cloop: warning: %s\n", message);
		if (shown && shown[0])
			fprintf(stderr, "  fix: %s\n", shown);
	}
}
