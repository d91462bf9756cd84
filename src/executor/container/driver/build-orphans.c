#include "executor/container/driver/build-orphans.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "image/setup.h"
#include "sys/clock.h"
#include "sys/descendants.h"
#include "sys/file.h"

enum { CALL_MS = 60000, STDOUT_MAX = 4 << 20, STATE_MAX = 4 << 20, DIGITS = 64 };
enum { GRACE_MS = 10000, LOOK_EVERY_MS = 100 };

static int ask(const struct build_orphans *o, const char *const *args, struct captured *ret)
{
	auto_error struct error ignored = ERROR_INIT;
	struct client_call c = {
		.runtime = o->runtime,
		.env = o->env,
		.args = args,
		.timeout_ms = CALL_MS,
		.stdout_max = STDOUT_MAX,
		.cancel_fd = -1,
	};

	return client_ask(&c, ret, &ignored);
}

/* ---- Containers ---- */

/* Where the store keeps what belongs to containers: caller frees; NULL. */
static char *containers_folder(const struct build_orphans *o)
{
	const char *args[] = {"info",
		"--format={{.Store.GraphRoot}}/{{.Store.GraphDriverName}}-containers", NULL};
	AUTO(captured) answer = {.status = 0};

	if (ask(o, args, &answer) < 0)
		return NULL;
	struct text path = text_trim((struct text){str_text(&answer.out), answer.out.len});
	return text_starts(path, "/") ? mem_strndup(path.p, path.len) : NULL;
}

/* The key of a line of the Dockerfile, as buildah 1.28 tells it in a history. */
static struct text key_of_line(struct text made_by)
{
	static const char before[] = "/bin/sh -c #(nop) LABEL \"" SETUP_LABEL_KEY "\"=\"";
	struct text none = {NULL, 0};

	if (!text_starts(made_by, before) || !text_ends(made_by, "\""))
		return none;
	struct text key = text_after(made_by, strlen(before));
	key.len--;
	return text_is_hex(key, DIGITS) ? key : none;
}

/* buildah's own file of a container; base images' histories are elsewhere in it. */
static json_t *read_state(const char *folder, struct text id)
{
	auto_free char *path =
		mem_printf("%s/%.*s/userdata/buildah.json", folder, (int)id.len, id.p);
	auto_error struct error ignored = ERROR_INIT;
	AUTO(str) text = STR_INIT(STATE_MAX + 1);

	if (file_read(path, STATE_MAX, &text, &ignored) < 0)
		return NULL;
	return json_read((struct text){str_text(&text), text.len}, STATE_MAX, "working container",
		ERROR_ENGINE_FAILED, &ignored);
}

static void add_if_ours(const char *folder, struct text id, struct strv *ret)
{
	size_t i;
	json_t *line;

	auto_json *state = read_state(folder, id);
	json_array_foreach(json_object_get(state, "PrependedEmptyLayers"), i, line)
	{
		struct text key = key_of_line(json_get_text(line, "created_by"));
		if (key.len > 0) {
			strv_addf(ret, "%.*s %.*s", (int)key.len, key.p, (int)id.len, id.p);
			return;
		}
	}
}

void build_orphans_find(const struct build_orphans *o, struct strv *ret)
{
	const char *args[] = {"ps", "--all", "--external", "--no-trunc", "--format=json", NULL};
	auto_error struct error ignored = ERROR_INIT;
	AUTO(captured) answer = {.status = 0};
	auto_free char *folder = NULL;
	size_t i;
	json_t *c;

	if (o->runtime->engine != ENGINE_PODMAN || ask(o, args, &answer) < 0)
		return;
	auto_json *all = json_read((struct text){str_text(&answer.out), answer.out.len}, STDOUT_MAX,
		"list of containers", ERROR_ENGINE_FAILED, &ignored);
	json_array_foreach(all, i, c)
	{
		struct text id = json_get_text(c, "Id");
		if (!text_is(json_get_text(c, "State"), "storage") || !text_is_hex(id, DIGITS))
			continue;
		if (!folder)
			folder = containers_folder(o);
		if (!folder)
			return;
		add_if_ours(folder, id, ret);
	}
}

/* ---- The client ---- */

/* Its commands first: then it cleans up (build-process.c). */
static void kill_commands(const struct descendants *clients)
{
	AUTO(descendants) below = DESCENDANTS_INIT;

	for (size_t i = 0; i < clients->n; i++) {
		descendants_find(clients->v[i].pid, &below);
		for (size_t j = 0; j < below.n; j++)
			if (below.v[j].session != clients->v[i].session)
				descendant_kill(&below.v[j]);
	}
}

static void end_clients(const struct build_orphans *o, const char *key)
{
	auto_free char *word = mem_printf("--iidfile=%s/builds/%s.id", o->home, key);
	int64_t until = clock_boottime_ms() + GRACE_MS;
	AUTO(descendants) clients = DESCENDANTS_INIT;

	descendants_with_word(word, &clients);
	while (clients.n > 0 && clock_boottime_ms() < until) {
		kill_commands(&clients);
		clock_sleep_ms(LOOK_EVERY_MS);
		descendants_with_word(word, &clients);
	}
	for (size_t i = 0; i < clients.n; i++)
		descendant_kill(&clients.v[i]);
}

void build_orphans_remove(const struct build_orphans *o, const char *key, const struct strv *found,
	struct strv *removed)
{
	if (o->runtime->engine != ENGINE_PODMAN)
		return;
	end_clients(o, key);
	strv_foreach (line, found) {
		AUTO(captured) answer = {.status = 0};
		const char *id = *line + DIGITS + 1;
		const char *args[] = {"rm", "--force", id, NULL};
		if (!text_starts(text_of(*line), key))
			continue;
		if (ask(o, args, &answer) == 0 && removed)
			strv_add(removed, id);
	}
}

void build_orphans_end(const struct build_orphans *o, const char *key)
{
	AUTO(strv) found = STRV_INIT(BUILD_ORPHANS_MAX);

	build_orphans_find(o, &found);
	build_orphans_remove(o, key, &found, NULL);
}
