#include "executor/container/driver/derived-image.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "executor/container/driver/derived-build.h"
#include "executor/container/driver/setup-lock.h"
#include "executor/container/request.h"
#include "executor/rundir/home.h"
#include "sys/clock.h"
#include "sys/fault.h"
#include "sys/file.h"
#include "sys/lockfile.h"
#include "sys/log.h"

/* From the beginning of the wait for the lock. The short one is for tests. */
enum { DEADLINE_MS = 30 * 60 * 1000, SHORT_DEADLINE_MS = 3000, ULIMITS_MAX = 32 };

enum found { FOUND, FOUND_NONE, FOUND_OTHER };

struct settling {
	const struct run_image_question *question;
	struct image_answers *answers;
	struct run_image *image;
	struct setup_facts facts;
	int64_t deadline_ms;
};

void derived_image_network(const struct container_driver *d, const struct container_request *r,
	char out[DERIVED_NETWORK_SIZE])
{
	auto_free char *scope = mem_strndup(r->egress_scope.p, r->egress_scope.len);
	struct setup_network network = {
		.engine = image_answers_store(&d->runtime),
		.executor = d->options.network,
		.disabled = r->disable_network,
		.filtered = d->options.egress_filter_enabled || r->network.len > 0,
		.egress_scope = scope,
	};

	snprintf(out, DERIVED_NETWORK_SIZE, "%s", setup_network_of(&network));
}

static void decide_network(const struct run_image_question *q, struct run_build *ret)
{
	derived_image_network(q->driver, q->start->request, ret->network);
	ret->without_network =
		strcmp(ret->network, "none") == 0 && !strv_has(&q->line->argv, "--network=none");
}

static void fill_facts(struct settling *s)
{
	const struct run_image_question *q = s->question;
	const struct container_request *r = q->start->request;
	const struct container_options *o = &q->driver->options;
	const struct image_identity *base = &s->image->stored.identity;

	s->facts = (struct setup_facts){
		.engine = image_answers_store(s->answers->runtime),
		.base_id = base->id,
		.base = base->image,
		.open_network = strcmp(s->image->build.network, "none") != 0,
		.cpu_millis = r->has_limits ? r->limits.cpu_millis : o->cpu_millis,
		.memory_mb = r->has_limits ? r->limits.memory_mb : o->memory_mb,
		.commands = q->start->setup,
		.n_commands = q->start->n_setup,
	};
}

/* ---- The look-up ---- */

static char *name_of(const struct settling *s)
{
	return mem_printf(SETUP_NAME ":%s", s->image->build.key);
}

/* Which image has the name now; -1: the engine fails. */
static int look_up(const struct settling *s, char ret_id[IMAGE_DIGEST_MAX + 1], struct error *err)
{
	auto_free char *name = name_of(s);
	auto_error struct error missing = ERROR_INIT;
	struct image_reference asked;

	if (image_reference_parse(text_of(name), &asked, err) < 0)
		return -1;
	auto_json *found = image_answers_get(s->answers, &asked, &missing);
	if (!found && error_is(&missing, ERROR_IMAGE_MISSING))
		return FOUND_NONE;
	if (!found) {
		error_move(err, &missing);
		return -1;
	}
	return derived_matches(found, s->image->stored.inspect, &s->facts, s->image->build.key) &&
			       derived_build_id_of(found, ret_id)
		       ? FOUND
		       : FOUND_OTHER;
}

/* Somebody else's image under our name. One in use keeps it until the new one takes it. */
static void remove_other(const struct settling *s)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(captured) answer = {.status = 0};
	auto_free char *name = name_of(s);
	const char *args[] = {"rmi", name, NULL};
	struct client_call call = {
		.runtime = s->answers->runtime,
		.env = s->answers->env,
		.args = args,
		.timeout_ms = DEADLINE_MS / 30,
		.stdout_max = 4096,
		.cancel_fd = -1,
	};

	log_warning("%s is not the image of that key: removed", name);
	if (client_ask(&call, &answer, &err) < 0)
		log_debug("%s", err.message);
}

/* ---- Locked ---- */

static int wait_for(const struct settling *s, int folder, int *ret_fd, struct error *err)
{
	char name[SETUP_LOCK_NAME_SIZE];
	int cancel = s->answers->cancel_fd;

	setup_lock_name(s->image->build.key, name);
	int r = lockfile_wait(folder, name, s->deadline_ms, cancel, ret_fd, err);
	if (r == 1)
		return derived_build_too_late(err);
	if (r == 2)
		return error_set(err, ERROR_START_CANCELLED,
			"the start was cancelled while it waited for another build of its image");
	return r;
}

/* One build per key; who waited finds its image. The lock's time is the key's last use. */
static int lock_key(const struct settling *s, int *ret_fd, struct error *err)
{
	auto_fd int folder = file_open_folder(s->answers->home, "locks", true, err);

	if (folder < 0 || wait_for(s, folder, ret_fd, err) < 0)
		return -1;
	setup_lock_touch(*ret_fd, s->answers->runtime);
	return 0;
}

/* The run's own: what its line asks for. */
static void take_ulimits(const struct argv_line *line, struct strv *ret)
{
	static const char flag[] = "--ulimit=";

	strv_foreach (word, &line->argv) {
		if (strcmp(*word, "--") == 0)
			return;
		if (text_starts(text_of(*word), flag))
			strv_add(ret, *word + strlen(flag));
	}
}

static int build(const struct settling *s, char ret_id[IMAGE_DIGEST_MAX + 1], struct error *err)
{
	const struct run_image_question *q = s->question;
	AUTO(strv) ulimits = STRV_INIT(ULIMITS_MAX);
	AUTO(build_output) output = BUILD_OUTPUT_INIT;
	struct derived_build b = {
		.answers = s->answers,
		.facts = &s->facts,
		.key = s->image->build.key,
		.network = s->image->build.network,
		.oci_runtime = q->driver->options.oci_runtime,
		.ulimits = &ulimits,
		.deadline_ms = s->deadline_ms,
		.output = &output,
	};

	take_ulimits(q->line, &ulimits);
	output.show = q->start->show_build;
	output.data = q->start->show_build_data;
	return derived_build_run(&b, ret_id, err);
}

static int build_if_missing(
	const struct settling *s, char ret_id[IMAGE_DIGEST_MAX + 1], struct error *err)
{
	int found = look_up(s, ret_id, err);

	if (found == FOUND_OTHER)
		remove_other(s);
	if (found < 0 || found == FOUND)
		return found < 0 ? -1 : 0;
	return build(s, ret_id, err);
}

/*
 * Other homes have locks of their own and perhaps the same store, where the last to finish would
 * take the name from an image that then has none and is gone.
 */
static int build_locked(
	const struct settling *s, char ret_id[IMAGE_DIGEST_MAX + 1], struct error *err)
{
	auto_fd int folder = -1, lock = -1;
	char name[SETUP_LOCK_NAME_SIZE];

	setup_lock_name(s->image->build.key, name);
	if (home_open_shared(s->answers->home, &folder, err) < 0 ||
		wait_for(s, folder, &lock, err) < 0)
		return -1;
	int r = build_if_missing(s, ret_id, err);
	(void)!unlinkat(folder, name, 0);
	return r;
}

static int find_or_build(
	const struct settling *s, char ret_id[IMAGE_DIGEST_MAX + 1], struct error *err)
{
	auto_fd int lock = -1;

	if (lock_key(s, &lock, err) < 0)
		return -1;
	int found = look_up(s, ret_id, err);
	if (found < 0 || found == FOUND)
		return found < 0 ? -1 : 0;
	return build_locked(s, ret_id, err);
}

static int settle(struct settling *s, char ret_id[IMAGE_DIGEST_MAX + 1], struct error *err)
{
	if (!s->question->look_only)
		return find_or_build(s, ret_id, err);
	int found = look_up(s, ret_id, err);
	s->image->build.needed = found > 0;
	return found < 0 ? -1 : 0;
}

int derived_image_settle(const struct run_image_question *q, struct image_answers *answers,
	struct run_image *image, struct error *err)
{
	struct settling s = {.question = q, .answers = answers, .image = image};
	int64_t most = fault_hit("build:deadline") ? SHORT_DEADLINE_MS : DEADLINE_MS;
	char id[IMAGE_DIGEST_MAX + 1];

	if (q->start->n_setup == 0)
		return 0;
	if (setup_check(q->start->setup, q->start->n_setup, err) < 0)
		return -1;
	s.deadline_ms = clock_boottime_ms() + most;
	decide_network(q, &image->build);
	fill_facts(&s);
	setup_key(&s.facts, image->build.key);
	if (settle(&s, id, err) < 0)
		return -1;
	if (image->build.needed)
		memcpy(id, RUN_IMAGE_UNKNOWN, sizeof(RUN_IMAGE_UNKNOWN));
	memcpy(image->id, id, strlen(id) + 1);
	memcpy(image->run, id, strlen(id) + 1);
	return 0;
}
