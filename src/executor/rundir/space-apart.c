#include "executor/rundir/space-apart.h"

#include <assert.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/mem.h"
#include "sys/thread.h"

enum { STACK_SIZE = 64 << 10, OWNERS = 2 };

/* The thread's until `done` is readable; whoever lets go last frees it. */
struct space_apart {
	struct space space; /* its own descriptors, and nothing else */
	struct space_reading reading;
	int done; /* eventfd */
	atomic_bool answered;
	atomic_int owners;
};

void space_apart_end(struct space_apart *a)
{
	if (!a || atomic_fetch_sub(&a->owners, 1) > 1)
		return;
	space_done(&a->space);
	if (a->done >= 0)
		close(a->done);
	free(a);
}

static void *read_all(void *data)
{
	struct space_apart *a = data;
	const uint64_t one = 1;

	space_read(&a->space, &a->reading);
	atomic_store(&a->answered, true);
	(void)!write(a->done, &one, sizeof(one));
	space_apart_end(a);
	return NULL;
}

static bool start(struct space_apart *a)
{
	atomic_store(&a->owners, OWNERS);
	if (thread_begin(NULL, STACK_SIZE, read_all, a) == 0)
		return true;
	atomic_store(&a->owners, 1);
	return false;
}

struct space_apart *space_apart_begin(const struct space *s)
{
	struct space_apart *a = mem_alloc(sizeof(*a));
	bool all = true;

	atomic_init(&a->owners, 1);
	a->space = SPACE_INIT;
	a->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	for (size_t i = 0; i < s->n && all; i++) {
		int fd = fcntl(s->v[i].fd, F_DUPFD_CLOEXEC, 0);
		all = fd >= 0;
		if (all)
			a->space.v[a->space.n++].fd = fd;
	}
	if (a->done >= 0 && all && start(a))
		return a;
	space_apart_end(a);
	return NULL;
}

int space_apart_fd(const struct space_apart *a)
{
	return a->done;
}

const struct space_reading *space_apart_answer(const struct space_apart *a)
{
	assert(atomic_load(&a->answered));
	return &a->reading;
}
