#include "executor/rundir/space.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "sys/free-space.h"
#include "sys/log.h"

void space_done(struct space *s)
{
	for (size_t i = 0; i < s->n; i++) {
		close(s->v[i].fd);
		free(s->v[i].whose);
	}
	*s = SPACE_INIT;
}

static bool is_known(const struct space *s, int fd)
{
	struct stat own, other;

	if (fstat(fd, &own) < 0)
		return true;
	for (size_t i = 0; i < s->n; i++)
		if (fstat(s->v[i].fd, &other) == 0 && own.st_dev == other.st_dev)
			return true;
	return false;
}

void space_open(struct space *s, uint64_t floor_mb, const struct space_place *places, size_t n)
{
	*s = SPACE_INIT;
	for (size_t i = 0; floor_mb > 0 && i < n && s->n < SPACE_FILESYSTEMS; i++) {
		const struct space_place *p = &places[i];
		if (p->fd < 0 || is_known(s, p->fd))
			continue;
		int fd = fcntl(p->fd, F_DUPFD_CLOEXEC, 0);
		if (fd < 0)
			continue;
		s->v[s->n++] = (struct space_filesystem){
			.fd = fd,
			.whose = mem_printf("%s %s", p->what, quoted_string(p->path)),
			.floor = {.floor_mb = floor_mb},
			.local = free_space_local(fd),
		};
	}
}

void space_open_run(
	struct space *s, uint64_t floor_mb, int project, const char *path, const struct home *home)
{
	const struct space_place places[] = {
		{project, "the workspace", path},
		{home->fd, "cloop's home", home->path},
	};

	space_open(s, floor_mb, places, ARRAY_SIZE(places));
}

static char *describe(const struct space_filesystem *f, int64_t free_mb)
{
	unsigned long long floor = f->floor.floor_mb;

	if (f->floor.paused)
		return mem_printf("the filesystem of %s has %lld MB free, and the floor is %llu "
				  "MB (orchestrator.min_free_disk_mb)",
			f->whose, (long long)free_mb, floor);
	return mem_printf("the filesystem of %s has %lld MB free again, at least %llu MB", f->whose,
		(long long)free_mb, (unsigned long long)disk_floor_resume_mb(floor));
}

static void tell_failure(struct space_filesystem *f, int error)
{
	if (!f->failed)
		log_warning("free space on the filesystem of %s cannot be read: %s", f->whose,
			strerror(error));
	f->failed = true;
}

void space_read(const struct space *s, struct space_reading *ret)
{
	for (size_t i = 0; i < s->n; i++) {
		ret->free_mb[i] = free_space_mb(s->v[i].fd);
		ret->error[i] = errno;
	}
}

void space_take(
	struct space *s, const struct space_reading *reading, space_crossed_fn *fn, void *data)
{
	for (size_t i = 0; i < s->n; i++) {
		struct space_filesystem *f = &s->v[i];
		int64_t free_mb = reading->free_mb[i];
		if (free_mb < 0)
			tell_failure(f, reading->error[i]);
		if (!disk_floor_step(&f->floor, free_mb))
			continue;
		auto_free char *text = describe(f, free_mb);
		fn(data, f->floor.paused, text);
	}
}

void space_look(struct space *s, space_crossed_fn *fn, void *data)
{
	struct space_reading reading = {.free_mb = {0}};

	space_read(s, &reading);
	space_take(s, &reading, fn, data);
}

bool space_may_block(const struct space *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (!s->v[i].local)
			return true;
	return false;
}

bool space_low(const struct space *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].floor.paused)
			return true;
	return false;
}

json_t *space_low_list(const struct space *s)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].floor.paused)
			json_array_append_new(list, json_from_string(s->v[i].whose));
	return list;
}

void space_restore(struct space *s, const json_t *low)
{
	for (size_t i = 0; i < s->n; i++)
		s->v[i].floor.paused = json_list_has(low, s->v[i].whose);
}
