#include "cli/take-back.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "run/context.h"
#include "run/revoke.h"

int take_back(struct cli *c, const struct home *home, struct store *s, const json_t *numbers,
	json_t **ret, struct error *err)
{
	auto_error struct error unusable = ERROR_INIT;
	AUTO(context) context = {.home = HOME_INIT};
	auto_json *list = json_array();
	struct revoke_ground g = {.home = home, .store = s};
	size_t i;
	json_t *number;

	if (json_array_size(numbers) > 0) {
		if (cli_context_open(c, &context, &unusable) == 0)
			g.executors = &context.executors;
		else
			fprintf(stderr, "cloop: %s: runs are told without their executors\n",
				unusable.message);
	}
	json_array_foreach(numbers, i, number)
	{
		json_t *answer = NULL;
		if (revoke_carry_out(&g, json_integer_value(number), &answer, err) < 0)
			return -1;
		json_array_append_new(list, answer);
	}
	*ret = json_incref(list);
	return 0;
}

static const char *said(const json_t *object, const char *key)
{
	const char *s = json_get_string(object, key);

	return s && s[0] ? s : NULL;
}

void take_back_print(const json_t *answer)
{
	const json_t *runs = json_object_get(answer, "runs");
	const char *lease = said(answer, "lease"), *grant = said(answer, "grant");
	const char *advice = said(answer, "advice");
	size_t i;
	json_t *run;

	printf("%s%s%s: %s%s\n", lease ? lease : "", lease && grant ? " " : "", grant ? grant : "",
		json_get_string(answer, "state"),
		json_array_size(runs) == 0 ? ", no run holds it" : "");
	json_array_foreach(runs, i, run)
	{
		const char *message = said(run, "message"), *effect = said(run, "effect");
		auto_free char *shown = message ? cli_plain(message) : NULL;
		printf("  %-15s  %-11s %-5s %s\n", json_get_string(run, "run"),
			json_get_string(run, "result"), effect ? effect : "-", shown ? shown : "");
	}
	if (advice)
		printf("  %s\n", advice);
	else if (json_array_size(runs) > 0 && !(grant && strncmp(grant, "egress_", 7) == 0))
		printf("  what a workload copied, or holds open, is out of reach: rotate it\n");
}

int take_back_status(const json_t *answers)
{
	size_t i;
	json_t *answer;

	json_array_foreach(answers, i, answer) if (strcmp(json_get_string(answer, "state"),
							   "revoked") != 0) return CLI_REFUSED;
	return CLI_OK;
}
