#include "executor/container/driver/derived-reap.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/num.h"
#include "executor/container/driver/build-orphans.h"
#include "executor/container/driver/image-answers.h"
#include "executor/container/driver/setup-lock.h"
#include "executor/rundir/home.h"
#include "image/setup.h"
#include "sys/clock.h"
#include "sys/file-list.h"
#include "sys/file.h"
#include "sys/lockfile.h"

enum { CALL_MS = 60000, STDOUT_MAX = 4 << 20, LINES_MAX = 20000 };

#define SECOND_NS INT64_C(1000000000)
#define DAY_NS (86400 * SECOND_NS)
/* A temporary tag whose lock is not in this home: older than any build. */
#define FOREIGN_NS (3600 * SECOND_NS)
#define BUILD_PREFIX SETUP_NAME ":build-"

struct reaping {
	const struct derived_reap *what;
	int locks, builds;   /* folders; -1 = there is none */
	int shared;          /* folder of locks that all homes have */
	struct strv images;  /* "ID NAME:TAG" */
	struct strv orphans; /* build_orphans_find() */
};

static void reaping_done(struct reaping *r)
{
	cleanup_fd(&r->locks);
	cleanup_fd(&r->builds);
	cleanup_fd(&r->shared);
	strv_done(&r->images);
	strv_done(&r->orphans);
}

static struct build_orphans orphans_of(const struct reaping *r)
{
	return (struct build_orphans){
		.runtime = r->what->runtime, .env = r->what->env, .home = r->what->home};
}

/* Its build did not end in order: its directory, or a container, is there. */
static bool was_interrupted(const struct reaping *r, const char *key)
{
	auto_free char *context = mem_printf("%s.context", key);

	if (r->builds >= 0 && faccessat(r->builds, context, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return true;
	strv_foreach (line, &r->orphans)
		if (text_starts(text_of(*line), key))
			return true;
	return false;
}

/* Another home may build the same key at this moment. */
static int remove_orphans(const struct reaping *r, const char *key, struct error *err)
{
	struct build_orphans o = orphans_of(r);
	char name[SETUP_LOCK_NAME_SIZE];
	auto_fd int lock = -1;

	if (!was_interrupted(r, key))
		return 0;
	setup_lock_name(key, name);
	int held = lockfile_try(r->shared, name, &lock, err);
	if (held != 0)
		return held < 0 ? -1 : 0;
	build_orphans_remove(&o, key, &r->orphans, r->what->names);
	(void)!unlinkat(r->shared, name, 0);
	return 0;
}

static int call(
	const struct reaping *r, const char *const *args, struct captured *ret, struct error *err)
{
	struct client_call c = {
		.runtime = r->what->runtime,
		.env = r->what->env,
		.args = args,
		.timeout_ms = CALL_MS,
		.stdout_max = STDOUT_MAX,
		.cancel_fd = -1,
	};

	return client_ask(&c, ret, err);
}

static int list_images(struct reaping *r, struct error *err)
{
	static const char name[] = " " SETUP_NAME ":";
	const char *args[] = {
		"images", "--no-trunc", "--format={{.ID}} {{.Repository}}:{{.Tag}}", NULL};
	AUTO(captured) answer = {.status = 0};
	struct text rest, line;

	if (call(r, args, &answer, err) < 0)
		return -1;
	rest = (struct text){str_text(&answer.out), answer.out.len};
	while (text_split(&rest, '\n', &line))
		if (text_has(line, name) && strv_add_n(&r->images, line.p, line.len) < 0)
			break;
	return 0;
}

static int remove_image(const struct reaping *r, const char *name, struct error *err)
{
	const char *args[] = {"rmi", name, NULL};
	AUTO(captured) answer = {.status = 0};

	if (call(r, args, &answer, err) < 0)
		return -1;
	strv_add(r->what->names, name);
	return 0;
}

/* 1 = a container of any state has it. */
static int in_use(const struct reaping *r, struct text id, struct error *err)
{
	auto_free char *filter = mem_printf("--filter=ancestor=%.*s", (int)id.len, id.p);
	const char *args[] = {"ps", "--all", "--quiet", filter, NULL};
	AUTO(captured) answer = {.status = 0};

	if (call(r, args, &answer, err) < 0)
		return -1;
	return !text_blank((struct text){str_text(&answer.out), answer.out.len});
}

/* "sha256:ID NAME" in two, without the algorithm. */
static struct text id_of(const char *line, const char **ret_name)
{
	const char *blank = strchr(line, ' ');
	struct text id = {line, (size_t)(blank - line)};

	*ret_name = blank + 1;
	return text_starts(id, "sha256:") ? text_after(id, strlen("sha256:")) : id;
}

/* ---- A key of this home ---- */

static void remove_files(const struct reaping *r, const char *key, bool log)
{
	static const char *const suffixes[] = {"id", "context", "log"};
	auto_error struct error ignored = ERROR_INIT;

	for (size_t i = 0; r->builds >= 0 && i < ARRAY_SIZE(suffixes) - (log ? 0 : 1); i++) {
		auto_free char *name = mem_printf("%s.%s", key, suffixes[i]);
		(void)!file_remove_tree_at(r->builds, name, &ignored);
	}
}

static bool unused(const struct reaping *r, int lock)
{
	struct stat st;

	if (r->what->days == 0 || fstat(lock, &st) < 0)
		return false;
	int64_t used = (int64_t)st.st_mtim.tv_sec * SECOND_NS + st.st_mtim.tv_nsec;
	return clock_realtime_ns() - used >= (int64_t)r->what->days * DAY_NS;
}

/*
 * Its lock is ours, and nobody used it for long. Without an image, which can go in other ways,
 * only the lock is left.
 */
static int reap_unused(
	const struct reaping *r, const char *lock_name, const char *key, struct error *err)
{
	auto_free char *wanted = mem_printf(SETUP_NAME ":%s", key);

	strv_foreach (line, &r->images) {
		const char *name;
		struct text id = id_of(*line, &name);
		if (strcmp(name, wanted) != 0)
			continue;
		int used = in_use(r, id, err);
		if (used != 0)
			return used < 0 ? -1 : 0;
		if (remove_image(r, wanted, err) < 0)
			return -1;
		break;
	}
	(void)!unlinkat(r->locks, lock_name, 0);
	remove_files(r, key, true);
	return 0;
}

static int reap_key(const struct reaping *r, const char *lock_name, struct error *err)
{
	const char *key = setup_lock_key(lock_name);
	auto_fd int lock = -1;

	int held = lockfile_try(r->locks, lock_name, &lock, err);
	if (held != 0)
		return held < 0 ? -1 : 0;
	if (remove_orphans(r, key, err) < 0)
		return -1;
	remove_files(r, key, false);
	return unused(r, lock) && !setup_lock_is_foreign(lock, r->what->runtime)
		       ? reap_unused(r, lock_name, key, err)
		       : 0;
}

/* ---- A temporary tag ---- */

static bool is_older(const json_t *inspect, int64_t age_ns)
{
	int64_t made;

	return num_parse_rfc3339(json_get_text(inspect, "Created"), &made) &&
	       clock_realtime_ns() - made >= age_ns;
}

/* Its key's build is over: the lock that this home has is free. */
static int is_stale(const struct reaping *r, struct text id, struct error *err)
{
	struct image_answers answers = {
		.runtime = r->what->runtime, .env = r->what->env, .cancel_fd = -1};
	auto_free char *image = mem_strndup(id.p, id.len);
	struct stat st;

	auto_json *inspect = image_answers_ask_id(&answers, image, err);
	if (!inspect)
		return -1;
	struct text key = image_inspect_label(inspect, SETUP_LABEL_KEY);
	auto_free char *digits = mem_strndup(key.p ? key.p : "", key.len);
	char lock[SETUP_LOCK_NAME_SIZE];

	setup_lock_name(digits, lock);
	/* No build ever made it. */
	if (!text_is_hex(key, 64))
		return 1;
	if (fstatat(r->locks, lock, &st, 0) < 0)
		return is_older(inspect, FOREIGN_NS);
	int held = lockfile_held(r->locks, lock, err);
	return held < 0 ? -1 : !held;
}

static int reap_tag(const struct reaping *r, const char *line, struct error *err)
{
	const char *name;
	struct text id = id_of(line, &name);

	if (!text_starts(text_of(name), BUILD_PREFIX))
		return 0;
	int stale = is_stale(r, id, err);
	return stale == 1 ? remove_image(r, name, err) : stale;
}

/* ---- All ---- */

/* -1: there is none. */
static int open_folder(const char *home, const char *name)
{
	auto_error struct error ignored = ERROR_INIT;

	return file_open_folder(home, name, false, &ignored);
}

static void note(int r, struct error *one, int *result, struct error *err)
{
	if (r < 0 && *result == 0) {
		error_move(err, one);
		*result = -1;
	}
}

int derived_reap_run(const struct derived_reap *what, struct error *err)
{
	AUTO(reaping)
	r = {.what = what,
		.locks = open_folder(what->home, "locks"),
		.builds = open_folder(what->home, "builds"),
		.shared = -1,
		.images = STRV_INIT(LINES_MAX),
		.orphans = STRV_INIT(BUILD_ORPHANS_MAX)};
	AUTO(strv) names = STRV_INIT(LINES_MAX);
	int result = 0;

	/* A home without locks never built anything. */
	if (r.locks < 0)
		return 0;
	if (home_open_shared(what->home, &r.shared, err) < 0 || list_images(&r, err) < 0)
		return -1;
	file_list_at(r.locks, SETUP_LOCK_PREFIX, &names);
	struct build_orphans o = orphans_of(&r);
	build_orphans_find(&o, &r.orphans);
	strv_foreach (name, &names) {
		auto_error struct error one = ERROR_INIT;
		if (setup_lock_key(*name))
			note(reap_key(&r, *name, &one), &one, &result, err);
	}
	strv_foreach (line, &r.images) {
		auto_error struct error one = ERROR_INIT;
		note(reap_tag(&r, *line, &one), &one, &result, err);
	}
	return result;
}
