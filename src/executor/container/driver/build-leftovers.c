#include "executor/container/driver/build-leftovers.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/num.h"
#include "sys/clock.h"
#include "sys/log.h"

enum { CALL_MS = 20000, STDOUT_MAX = 1 << 20, WAIT_MS = 10000, LOOK_EVERY_MS = 100, IDS_MAX = 64 };
enum { CONTAINERS_MAX = 1000, CREATED_WITHIN_S = 30, SECOND_NS = 1000000000 };

static int ask(const struct image_answers *a, const char *const *args, struct captured *ret,
	struct error *err)
{
	struct client_call c = {
		.runtime = a->runtime,
		.env = a->env,
		.args = args,
		.timeout_ms = CALL_MS,
		.stdout_max = STDOUT_MAX,
		.cancel_fd = -1,
	};

	return client_ask(&c, ret, err);
}

/* stdout of a call, line by line; nothing when it fails. */
static void list(const struct image_answers *a, const char *const *args, struct strv *ret)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(captured) answer = {.status = 0};
	struct text rest, line;

	if (ask(a, args, &answer, &err) < 0)
		return;
	rest = (struct text){str_text(&answer.out), answer.out.len};
	while (text_split(&rest, '\n', &line))
		if (!text_blank(line) && strv_add_n(ret, line.p, line.len) < 0)
			break;
}

static void call(const struct image_answers *a, const char *const *args)
{
	AUTO(strv) ignored = STRV_INIT(IDS_MAX);

	list(a, args, &ignored);
}

/* ---- docker ---- */

/* An untagged image made since then: our lock is held, so no other build of the key is it. */
static bool is_layer(const struct build_leftovers *l, const char *image)
{
	const char *args[] = {
		"image", "inspect", "--format={{len .RepoTags}} {{.Created}}", image, NULL};
	AUTO(strv) lines = STRV_INIT(1);
	int64_t made_ns;

	list(l->answers, args, &lines);
	if (lines.n != 1 || !text_starts(text_of(lines.v[0]), "0 "))
		return false;
	struct text made = text_trim(text_after(text_of(lines.v[0]), 2));
	return num_parse_rfc3339(made, &made_ns) && made_ns >= l->began_ns;
}

/* A person's container of such an image inherits the label, too. */
static bool is_build_container(const struct build_leftovers *l, const char *id)
{
	const char *args[] = {"inspect", "--type=container", "--format={{.Image}}", id, NULL};
	AUTO(strv) lines = STRV_INIT(1);

	list(l->answers, args, &lines);
	return lines.n == 1 && is_layer(l, lines.v[0]);
}

/* "ID" alone can be a container of a build; a run's has "ID true". */
static void list_docker_containers(
	const struct build_leftovers *l, const char *filter, struct strv *ret)
{
	AUTO(strv) lines = STRV_INIT(IDS_MAX);
	const char *args[] = {"ps", "--all", "--no-trunc", filter,
		"--format={{.ID}} {{.Label \"cloop.managed\"}}", NULL};

	list(l->answers, args, &lines);
	strv_foreach (line, &lines) {
		struct text id = text_trim(text_of(*line));
		auto_free char *name = mem_strndup(id.p, id.len);
		if (text_is_hex(id, 64) && is_build_container(l, name))
			strv_add(ret, name);
	}
}

static void remove_docker_containers(const struct build_leftovers *l, const char *filter)
{
	int64_t until = clock_boottime_ms() + WAIT_MS;
	AUTO(strv) ids = STRV_INIT(IDS_MAX);

	list_docker_containers(l, filter, &ids);
	while (ids.n > 0 && clock_boottime_ms() < until) {
		clock_sleep_ms(LOOK_EVERY_MS);
		strv_done(&ids);
		ids = STRV_INIT(IDS_MAX);
		list_docker_containers(l, filter, &ids);
	}
	strv_foreach (id, &ids) {
		const char *rm[] = {"rm", "--force", "--volumes", *id, NULL};
		call(l->answers, rm);
	}
}

/* Without their last, which takes its untagged parents along, layers stay for good. */
static void remove_docker_layers(const struct build_leftovers *l, const char *filter)
{
	AUTO(strv) ids = STRV_INIT(IDS_MAX);
	const char *args[] = {
		"images", "--quiet", "--no-trunc", "--filter=dangling=true", filter, NULL};

	list(l->answers, args, &ids);
	strv_foreach (id, &ids) {
		const char *rmi[] = {"rmi", *id, NULL};
		if (is_layer(l, *id))
			call(l->answers, rmi);
	}
}

/* ---- podman ---- */

static bool is_working_container(const struct build_leftovers *l, const json_t *c)
{
	const char *base = l->facts->base_id + strlen("sha256:");

	return text_is(json_get_text(c, "State"), "storage") &&
	       text_is(json_get_text(c, "ImageID"), base);
}

/* Those of the base: their IDs are added. False: not known. */
static bool list_working_containers(
	const struct build_leftovers *l, bool recent_only, struct strv *ret)
{
	const char *args[] = {"ps", "--all", "--external", "--no-trunc", "--format=json", NULL};
	auto_error struct error err = ERROR_INIT;
	AUTO(captured) answer = {.status = 0};
	int64_t began = l->began_ns / SECOND_NS;
	size_t i;
	json_t *c;

	if (ask(l->answers, args, &answer, &err) < 0)
		return false;
	auto_json *all = json_read((struct text){str_text(&answer.out), answer.out.len}, STDOUT_MAX,
		"list of containers", ERROR_ENGINE_FAILED, &err);
	json_array_foreach(all, i, c)
	{
		struct text id = json_get_text(c, "Id");
		int64_t made = json_get_int(c, "Created", 0);
		bool recent = made >= began - 1 && made <= began + CREATED_WITHIN_S;
		if (is_working_container(l, c) && (recent || !recent_only) &&
			strv_add_n(ret, id.p ? id.p : "", id.len) < 0)
			return false;
	}
	return json_is_array(all);
}

/* The ID of the only one that can be it: caller frees; NULL. */
static char *find_working_container(const struct build_leftovers *l)
{
	AUTO(strv) now = STRV_INIT(CONTAINERS_MAX);
	const char *found = NULL;

	if (!l->known || !list_working_containers(l, true, &now))
		return NULL;
	strv_foreach (id, &now) {
		if (strv_has(&l->before, *id))
			continue;
		if (found)
			return NULL;
		found = *id;
	}
	return found ? mem_strdup(found) : NULL;
}

static void remove_working_container(const struct build_leftovers *l)
{
	auto_free char *id = find_working_container(l);

	if (!id) {
		log_warning(
			"a build was killed: podman ps --all --external may show its container");
		return;
	}
	const char *rm[] = {"rm", "--force", id, NULL};
	call(l->answers, rm);
}

/* ---- All ---- */

void build_leftovers_begin(struct build_leftovers *l)
{
	l->before = STRV_INIT(CONTAINERS_MAX);
	l->known = l->facts->engine == IMAGE_STORE_DOCKER ||
		   list_working_containers(l, false, &l->before);
	l->began_ns = clock_realtime_ns();
}

void build_leftovers_done(struct build_leftovers *l)
{
	strv_done(&l->before);
}

void build_leftovers_remove(const struct build_leftovers *l)
{
	auto_free char *filter = mem_printf("--filter=label=" SETUP_LABEL_KEY "=%s", l->key);

	if (l->facts->engine == IMAGE_STORE_DOCKER) {
		remove_docker_containers(l, filter);
		remove_docker_layers(l, filter);
	} else if (l->forced) {
		remove_working_container(l);
	}
}
