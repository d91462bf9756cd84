#include "executor/container/driver/build-leftovers.h"

#include "base/mem.h"
#include "sys/clock.h"
#include "sys/log.h"

enum { CALL_MS = 60000, STDOUT_MAX = 1 << 20, WAIT_MS = 10000, LOOK_EVERY_MS = 100, IDS_MAX = 64 };

/* stdout of a call, line by line; nothing when it fails. */
static void list(struct image_answers *a, const char *const *args, struct strv *ret)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(captured) answer = {.status = 0};
	struct text rest, line;
	struct client_call c = {
		.runtime = a->runtime,
		.env = a->env,
		.args = args,
		.timeout_ms = CALL_MS,
		.stdout_max = STDOUT_MAX,
		.cancel_fd = -1,
	};

	if (client_run(&c, &answer, &err) != 0)
		return;
	rest = (struct text){str_text(&answer.out), answer.out.len};
	while (text_split(&rest, '\n', &line))
		if (!text_blank(line) && strv_add_n(ret, line.p, line.len) < 0)
			break;
}

static void call(struct image_answers *a, const char *const *args)
{
	AUTO(strv) ignored = STRV_INIT(IDS_MAX);

	list(a, args, &ignored);
}

/* "ID" alone is a container of a build; a run's has "ID true". */
static void list_docker_containers(struct image_answers *a, const char *filter, struct strv *ret)
{
	AUTO(strv) lines = STRV_INIT(IDS_MAX);
	const char *args[] = {"ps", "--all", "--no-trunc", filter,
		"--format={{.ID}} {{.Label \"cloop.managed\"}}", NULL};

	list(a, args, &lines);
	strv_foreach (line, &lines) {
		struct text id = text_trim(text_of(*line));
		if (text_is_hex(id, 64))
			strv_add_n(ret, id.p, id.len);
	}
}

static void remove_docker_containers(struct image_answers *a, const char *filter)
{
	int64_t until = clock_boottime_ms() + WAIT_MS;

	for (;;) {
		AUTO(strv) ids = STRV_INIT(IDS_MAX);
		list_docker_containers(a, filter, &ids);
		if (ids.n == 0)
			return;
		if (clock_boottime_ms() >= until) {
			strv_foreach (id, &ids) {
				const char *rm[] = {"rm", "--force", "--volumes", *id, NULL};
				call(a, rm);
			}
			return;
		}
		clock_sleep_ms(LOOK_EVERY_MS);
	}
}

/* Without their last, which takes its untagged parents along, layers stay for good. */
static void remove_docker_layers(struct image_answers *a, const char *filter)
{
	AUTO(strv) ids = STRV_INIT(IDS_MAX);
	const char *args[] = {
		"images", "--quiet", "--no-trunc", "--filter=dangling=true", filter, NULL};

	list(a, args, &ids);
	strv_foreach (id, &ids) {
		const char *rmi[] = {"rmi", *id, NULL};
		call(a, rmi);
	}
}

void build_leftovers_remove(struct image_answers *answers, const struct setup_facts *facts,
	const char *key, bool forced)
{
	auto_free char *filter = mem_printf("--filter=label=" SETUP_LABEL_KEY "=%s", key);

	if (facts->engine == IMAGE_STORE_DOCKER) {
		remove_docker_containers(answers, filter);
		remove_docker_layers(answers, filter);
	} else if (forced) {
		log_warning("a build was killed: podman ps --all --external may show a working "
			    "container of it");
	}
}
