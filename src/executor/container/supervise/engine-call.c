#include "executor/container/supervise/engine-call.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "sys/clock.h"
#include "sys/pipe.h"
#include "sys/spawn.h"

enum { OUT_MAX = 1 << 20, ERR_MAX = 64 << 10 };

/* One captured stream: what fits is kept, the rest is read and dropped. */
struct stream {
	int fd;
	struct loop_source *source;
	struct str kept;
};

struct engine_call {
	struct loop *loop;
	struct child child;
	struct loop_source *ended;
	struct loop_source *timer;
	struct stream streams[2];
	bool timed_out;
	engine_call_fn *fn;
	void *data;
};

/* What is in the pipe now, or its end. */
static void stream_drain(struct stream *s)
{
	char buffer[4096];
	size_t taken = 0, there = pipe_waiting(s->fd);
	ssize_t n;

	if (s->fd < 0)
		return;
	do {
		n = read(s->fd, buffer, sizeof(buffer));
		size_t got = n > 0 ? (size_t)n : 0, room = s->kept.max - s->kept.len;
		str_add(&s->kept, buffer, got < room ? got : room);
		taken += got;
	} while (n > 0 && taken < there);
	if (n == 0 && s->source) {
		loop_remove(s->source);
		s->source = NULL;
	}
}

static void on_output(void *data, uint32_t events)
{
	(void)events;
	stream_drain(data);
}

static void call_free(struct engine_call *c)
{
	loop_remove(c->ended);
	loop_remove(c->timer);
	for (size_t i = 0; i < ARRAY_SIZE(c->streams); i++) {
		loop_remove(c->streams[i].source);
		if (c->streams[i].fd >= 0)
			close(c->streams[i].fd);
		str_done(&c->streams[i].kept);
	}
	child_done(&c->child);
	free(c);
}

void engine_call_cancel(struct engine_call *c)
{
	if (c)
		call_free(c);
}

static void on_timeout(void *data)
{
	struct engine_call *c = data;

	c->timer = NULL;
	c->timed_out = true;
	child_kill(&c->child);
}

void engine_call_end(struct engine_call *c, int signal, int64_t grace_ms)
{
	if (signal)
		kill(-c->child.pid, signal);
	loop_remove(c->timer);
	c->timer = loop_at(c->loop, clock_boottime_ms() + grace_ms, on_timeout, c);
}

static void on_ended(void *data, uint32_t events)
{
	struct engine_call *c = data;
	auto_error struct error err = ERROR_INIT;
	int status = 0;

	(void)events;
	loop_remove(c->ended);
	c->ended = NULL;
	bool reaped = child_wait(&c->child, &status, &err) == 0;
	/* A grandchild (conmon) may keep the pipes open: what is there now is all that counts. */
	for (size_t i = 0; i < ARRAY_SIZE(c->streams); i++)
		stream_drain(&c->streams[i]);
	struct engine_answer answer = {
		.exit_code = reaped && WIFEXITED(status) ? WEXITSTATUS(status) : -1,
		.timed_out = c->timed_out,
		.out = {str_text(&c->streams[0].kept), c->streams[0].kept.len},
		.stderr_text = {str_text(&c->streams[1].kept), c->streams[1].kept.len},
	};
	c->fn(c->data, &answer);
	call_free(c);
}

static int open_stream(struct stream *s, size_t max, int *ret_child_end, struct error *err)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_set_errno(err, ERROR_IO, errno, "making a pipe");
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	s->fd = ends[0];
	s->kept = STR_INIT(max);
	*ret_child_end = ends[1];
	return 0;
}

static int open_streams(struct engine_call *c, const struct engine_call_spec *spec, int *ret_out,
	int *ret_err, struct error *err)
{
	return open_stream(&c->streams[0], spec->out_max ? spec->out_max : OUT_MAX, ret_out, err) <
			       0
		       ? -1
		       : open_stream(&c->streams[1], ERR_MAX, ret_err, err);
}

static int start_child(
	struct engine_call *c, const struct engine_call_spec *spec, struct error *err)
{
	auto_fd int out = -1;
	auto_fd int err_end = -1;

	if (!spec->stdio && open_streams(c, spec, &out, &err_end, err) < 0)
		return -1;
	struct spawn s = {
		.path = spec->path,
		.argv = spec->argv,
		.env = spec->env,
		.new_session = true,
		.fds = {{spec->stdio ? spec->stdio[0] : out, 1},
			{spec->stdio ? spec->stdio[1] : err_end, 2}, {spec->fd3, 3}},
		.n_fds = spec->fd3 >= 0 ? 3 : 2,
	};
	return spawn_start(&s, &c->child, err);
}

struct engine_call *engine_call_start(struct loop *l, const struct engine_call_spec *spec,
	engine_call_fn *fn, void *data, struct error *err)
{
	struct engine_call *c = mem_alloc(sizeof(*c));

	*c = (struct engine_call){.loop = l, .child = CHILD_INIT, .fn = fn, .data = data};
	for (size_t i = 0; i < ARRAY_SIZE(c->streams); i++)
		c->streams[i] = (struct stream){.fd = -1, .kept = STR_INIT(1)};
	if (start_child(c, spec, err) < 0) {
		call_free(c);
		return NULL;
	}
	for (size_t i = 0; i < ARRAY_SIZE(c->streams) && !spec->stdio; i++)
		c->streams[i].source =
			loop_watch(l, c->streams[i].fd, EPOLLIN, on_output, &c->streams[i]);
	c->ended = loop_watch(l, c->child.pidfd, EPOLLIN, on_ended, c);
	if (spec->timeout_ms > 0)
		c->timer = loop_at(l, clock_boottime_ms() + spec->timeout_ms, on_timeout, c);
	return c;
}
