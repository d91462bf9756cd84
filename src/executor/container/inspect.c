#include "executor/container/inspect.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"

enum { EXIT_CODE_MAX = 255 };

void inspection_done(struct inspection *i)
{
	free(i->id);
	free(i->status);
	free(i->handle);
	free(i->started_at);
	free(i->created_at);
	for (size_t n = 0; n < i->env.n; n++)
		explicit_bzero(i->env.v[n], strlen(i->env.v[n]));
	json_decref(i->labels);
	strv_done(&i->env);
	*i = INSPECTION_INIT;
}

static bool alive(const char *status)
{
	static const char *const words[] = {"running", "paused", "restarting", "stopping"};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcmp(status, words[i]) == 0)
			return true;
	return false;
}

static char *copy(const json_t *object, const char *key)
{
	const char *s = json_get_string(object, key);

	return s ? mem_strdup(s) : NULL;
}

bool inspect_says_unknown(struct text words)
{
	static const char *const known[] = {
		"o such container", "o such object", "no container with"};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (text_has(words, known[i]))
			return true;
	return false;
}

json_t *inspect_read_list(struct text text, struct error *err)
{
	return json_read(
		text, INSPECT_ANSWER_MAX, "the engine's inspect answer", ERROR_ENGINE_FAILED, err);
}

/* A number of 0 … max, else what is said for "unknown". */
static int64_t within(const json_t *object, const char *key, int64_t max, int64_t unknown)
{
	int64_t n = json_get_int(object, key, unknown);

	return n < 0 || n > max ? unknown : n;
}

bool inspect_has_started(const struct inspection *i)
{
	/* Unset is the year 1 for both engines. */
	return i->started_at && i->started_at[0] && !text_starts(text_of(i->started_at), "0001-");
}

int inspect_read(const json_t *object, struct inspection *ret, struct error *err)
{
	size_t i;
	json_t *entry;
	const json_t *state = json_object_get(object, "State");
	const json_t *config = json_object_get(object, "Config");
	const char *status = json_get_string(state, "Status");

	if (!status || !json_get_string(object, "Id"))
		return error_set(err, ERROR_ENGINE_FAILED,
			"the engine's inspect answer has no Id or State.Status");
	ret->id = copy(object, "Id");
	ret->status = mem_strdup(status);
	for (char *p = ret->status; *p; p++)
		*p = ascii_to_lower(*p);
	ret->running = alive(ret->status);
	ret->oom_killed = json_get_bool(state, "OOMKilled", false);
	ret->pid = (pid_t)within(state, "Pid", INT32_MAX, 0);
	if (!ret->running)
		ret->exit_code = within(state, "ExitCode", EXIT_CODE_MAX, -1);
	ret->labels = json_incref(json_object_get(config, "Labels"));
	ret->handle = copy(ret->labels, "cloop.handle");
	ret->started_at = copy(state, "StartedAt");
	ret->created_at = copy(object, "Created");
	json_array_foreach(json_object_get(config, "Env"), i,
		entry) if (json_is_string(entry) &&
			   strv_add(&ret->env, json_string_value(entry)) < 0) break;
	return 0;
}

int inspect_parse(struct text text, struct inspection *ret, struct error *err)
{
	auto_json *list = inspect_read_list(text, err);

	return list ? inspect_read(json_array_get(list, 0), ret, err) : -1;
}
