#include "executor/container/supervise/lease.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "executor/container/supervise/mask.h"
#include "executor/container/supervise/supervisor.h"
#include "executor/rundir/stage-wipe.h"
#include "sys/fault.h"
#include "sys/log.h"

/* On record: everything was read and written out. */
#define DRAINED "drained"
/* On record: names of files that were taken back, or are being so. */
#define WIPED "wiped_files"

static void forget_contents(struct lease *l)
{
	if (l->contents)
		munmap(l->contents, l->contents_size);
	l->contents = NULL;
	l->contents_size = 0;
}

void lease_done(struct lease *l)
{
	forget_contents(l);
	stage_done(&l->stage);
}

/*
 * The memory is the sealed memfd's own: it goes, zeroed by the kernel, with its last mapping. The
 * user's limit may forbid to lock it.
 */
static int map_contents(struct lease *l, int fd, struct error *err)
{
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return error_set(err, ERROR_SHIM_FAILED, "the secret files were not handed over");
	if (st.st_size == 0)
		return 0;
	void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return error_set_errno(err, ERROR_SHIM_FAILED, errno, "reading the secret files");
	l->contents = p;
	l->contents_size = (size_t)st.st_size;
	mlock(p, l->contents_size);
	madvise(p, l->contents_size, MADV_DONTDUMP);
	return 0;
}

/* The files of the plan with their contents. */
static int list_files(const struct supervisor *s, struct stage_file *ret, struct error *err)
{
	const struct lease *l = &s->lease;
	const struct plan_lease *plan = &s->plan.lease;
	size_t at = 0;

	if (s->launch.n_files != plan->n_files)
		return error_set(err, ERROR_SHIM_FAILED, "not all secret files were handed over");
	for (size_t i = 0; i < plan->n_files; i++) {
		size_t size = s->launch.file_sizes[i];
		if (size > l->contents_size - at)
			return error_set(
				err, ERROR_SHIM_FAILED, "a secret file was not handed over whole");
		ret[i] = (struct stage_file){plan->files[i].name, plan->files[i].mode,
			{size > 0 ? l->contents + at : "", size}};
		at += size;
	}
	return 0;
}

int lease_receive(struct supervisor *s, int fd, struct error *err)
{
	struct stage_file files[PLAN_LEASE_FILES_MAX];

	if (s->plan.lease.n_files == 0)
		return 0;
	if (map_contents(&s->lease, fd, err) < 0 || list_files(s, files, err) < 0)
		return -1;
	for (size_t i = 0; i < s->plan.lease.n_files; i++)
		if (mask_value(s, files[i].content, err) < 0)
			return -1;
	return 0;
}

int lease_stage(struct supervisor *s, struct error *err)
{
	struct stage_file files[PLAN_LEASE_FILES_MAX];
	const struct plan_lease *plan = &s->plan.lease;

	if (!plan->stage)
		return 0;
	s->lease.stage.chown = !s->plan.runtime.rootless;
	s->lease.stage.uid = s->plan.uid;
	s->lease.stage.gid = s->plan.gid;
	int r = list_files(s, files, err);
	if (r == 0)
		r = stage_make(&s->lease.stage, &s->run, plan->stage, files, plan->n_files, err);
	forget_contents(&s->lease);
	return r;
}

static bool is_wiped(struct supervisor *s, const char *name)
{
	size_t i;
	json_t *one;

	json_array_foreach(json_object_get(record_supervision(s->record), WIPED), i, one)
	{
		auto_free char *wiped = json_exact_bytes(one);
		if (wiped && strcmp(wiped, name) == 0)
			return true;
	}
	return false;
}

/*
 * One that was being wiped when its supervisor died is masked, as far as it is there, and goes. 1:
 * it should be there, and is not.
 */
static int restore_file(struct supervisor *s, const char *name, struct error *err)
{
	struct secret content = {.p = NULL};
	bool wiped = is_wiped(s, name);

	int r = stage_read(&s->lease.stage, name, &content, err);
	if (r == 0)
		r = mask_value(s, secret_text(&content), err);
	secret_done(&content);
	if (wiped && r >= 0)
		return stage_wipe_file(s->lease.stage.fd, name, err);
	return r;
}

/* The first failure ends it; files that are gone do not. */
static int restore_files(struct supervisor *s, struct error *err)
{
	const struct plan_lease *plan = &s->plan.lease;

	for (size_t i = 0; i < plan->n_files; i++) {
		int r = restore_file(s, plan->files[i].name, err);
		if (r < 0)
			return -1;
		s->lease.gone = s->lease.gone || r > 0;
	}
	return s->lease.gone;
}

int lease_restore(struct supervisor *s, struct error *err)
{
	const struct plan_lease *plan = &s->plan.lease;
	struct stage *stage = &s->lease.stage;

	if (!plan->stage || (stage->fd >= 0 && !s->lease.gone) ||
		json_get_bool(record_supervision(s->record), DRAINED, false))
		return 0;
	stage->chown = !s->plan.runtime.rootless;
	stage->uid = s->plan.uid;
	stage->gid = s->plan.gid;
	int r = stage->fd >= 0 ? 0 : stage_open(stage, &s->run, err);
	s->lease.gone = r > 0;
	if (r == 0)
		r = restore_files(s, err);
	if (r < 0)
		stage_done(stage);
	return r;
}

bool lease_has_file(struct supervisor *s, const char *name)
{
	for (size_t i = 0; i < s->plan.lease.n_files; i++)
		if (strcmp(s->plan.lease.files[i].name, name) == 0)
			return !is_wiped(s, name);
	return false;
}

static void record_wiped(struct supervisor *s, const struct strv *names)
{
	json_t *supervision = record_supervision(s->record);

	if (!json_is_array(json_object_get(supervision, WIPED)))
		json_object_set_new(supervision, WIPED, json_array());
	strv_foreach (name, names)
		if (!is_wiped(s, *name))
			json_array_append_new(
				json_object_get(supervision, WIPED), json_exact(*name));
	supervisor_persist(s, false);
}

int lease_scrub(struct supervisor *s, const struct strv *names, struct error *err)
{
	int r = 0;

	if (names->n == 0)
		return 0;
	record_wiped(s, names);
	/* Somebody took all of it away. */
	if (s->lease.stage.fd < 0)
		return 0;
	strv_foreach (name, names) {
		auto_error struct error one = ERROR_INIT;
		fault_hit("scrub:file");
		if (stage_wipe_file(s->lease.stage.fd, *name, &one) == 0)
			continue;
		if (r == 0)
			error_move(err, &one);
		r = -1;
	}
	return r;
}

void lease_drained(struct supervisor *s)
{
	if (!s->plan.lease.stage)
		return;
	json_object_set_new(record_supervision(s->record), DRAINED, json_true());
	supervisor_persist(s, false);
}

void lease_wipe(struct supervisor *s)
{
	auto_error struct error err = ERROR_INIT;
	int fd = s->lease.stage.fd;

	/* Also where somebody gave the directory another name. */
	int r = fd >= 0 ? stage_wipe_entries(fd, &err) : 0;
	stage_done(&s->lease.stage);
	if (stage_wipe_run(&s->run, &err) == 0 && r == 0)
		return;
	log_warning("%s", err.message);
	record_warn(s->record, "secret_stage_left", "%s", err.message);
}
