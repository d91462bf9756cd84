#include "executor/container/supervise/attach-exec.h"

#include <errno.h>
#include <string.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "executor/container/supervise/attach-session.h"
#include "executor/container/supervise/supervisor.h"
#include "sys/log.h"

enum { WORDS_MAX = ATTACH_WORDS_MAX + 12, SWEEP_MS = 10000, SIGNAL_CODE = 128 };

/* In the record's `supervision`: marks of sessions whose end nobody has seen. */
#define SESSIONS "sessions"

/*
 * $1: marks, with | between. Needs nothing of the image but a shell with grep; its own environment
 * has no mark.
 */
static const char sweep_script[] =
	"marked() { for p in /proc/[0-9]*; do "
	"grep -qE \"CLOOP_ATTACH=($1)\" $p/environ 2>/dev/null && echo ${p#/proc/}; done; }\n"
	"pids=$(marked \"$1\"); [ -z \"$pids\" ] && exit\n"
	"kill -HUP $pids 2>/dev/null; sleep 2\n"
	"pids=$(marked \"$1\"); [ -z \"$pids\" ] || kill -KILL $pids 2>/dev/null\n";

static json_t *open_marks(struct supervisor *s)
{
	json_t *v = record_supervision(s->record);

	if (!json_is_array(json_object_get(v, SESSIONS)))
		json_object_set_new(v, SESSIONS, json_array());
	return json_object_get(v, SESSIONS);
}

static void note_mark(struct supervisor *s, const char *mark)
{
	json_t *marks = open_marks(s);

	/* Where the image has no shell, none is ever swept. */
	while (json_array_size(marks) >= ATTACH_MARKS_MAX)
		json_array_remove(marks, 0);
	json_array_append_new(marks, json_string(mark));
	supervisor_persist(s, false);
}

static void forget_mark(struct supervisor *s, const char *mark)
{
	json_t *marks = open_marks(s);

	for (size_t i = json_array_size(marks); i-- > 0;)
		if (text_is(json_text(json_array_get(marks, i)), mark))
			json_array_remove(marks, i);
}

static struct engine_call *sweep(
	struct supervisor *s, const char *marks, engine_call_fn *fn, void *data, struct error *err)
{
	const char *args[] = {
		"exec", supervisor_container(s), "/bin/sh", "-c", sweep_script, "sh", marks, NULL};

	return supervisor_engine_for(s, args, SWEEP_MS, fn, data, err);
}

void attach_exec_free(struct attach_exec *e)
{
	if (!e)
		return;
	loop_remove(e->ended);
	engine_call_cancel(e->sweep);
	child_done(&e->client);
	free(e);
}

static void settle_over(struct attach_session *x)
{
	if (x->stage == ATTACH_OVER)
		return;
	attach_session_over(
		x, x->exec->exit_code < 0 ? SIGNAL_CODE + SIGKILL : x->exec->exit_code, -1);
	attach_session_settle(x);
}

/* The sweep is through: a client that still runs has nothing to show any more. */
static void on_swept(void *data, const struct engine_answer *answer)
{
	struct attach_session *x = data;

	x->exec->sweep = NULL;
	if (answer->exit_code == 0)
		forget_mark(x->owner, x->exec->mark);
	child_kill(&x->exec->client);
	if (x->exec->exit_code >= 0)
		settle_over(x);
}

void attach_exec_close(struct attach_session *x)
{
	auto_error struct error err = ERROR_INIT;

	if (x->exec->sweep)
		return;
	x->exec->sweep = sweep(x->owner, x->exec->mark, on_swept, x, &err);
	if (!x->exec->sweep)
		child_kill(&x->exec->client);
}

static void on_client_ended(void *data, uint32_t events)
{
	struct attach_session *x = data;
	auto_error struct error err = ERROR_INIT;
	struct attach_exec *e = x->exec;
	int status = 0;

	(void)events;
	loop_remove(e->ended);
	e->ended = NULL;
	bool known = child_wait(&e->client, &status, &err) == 0;
	e->exit_code = known && WIFEXITED(status) ? WEXITSTATUS(status) : SIGNAL_CODE + SIGKILL;
	if (x->stage == ATTACH_OVER)
		return;
	/* The end of a leader by itself closes the session in the same way. */
	if (x->stage != ATTACH_CLOSING && supervisor_released(x->owner))
		attach_exec_close(x);
	if (!e->sweep)
		settle_over(x);
}

static int make_mark(char mark[ATTACH_MARK_SIZE], struct error *err)
{
	unsigned char bytes[(ATTACH_MARK_SIZE - 1) / 2];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return error_set_errno(err, ERROR_IO, errno, "drawing a random number");
	hex_encode(bytes, sizeof(bytes), mark);
	return 0;
}

static void make_words(const struct attach_session *x, const struct attach_request *r,
	const char *mark, struct strv *ret)
{
	struct supervisor *s = x->owner;
	struct text words = {r->argv, r->argv_len}, word;
	auto_free char *variable = mem_printf("--env=CLOOP_ATTACH=%s", mark);

	strv_add(ret, engine_text(s->plan.runtime.engine));
	strv_add(ret, "exec");
	if (r->write)
		strv_add(ret, "--interactive");
	if (r->tty)
		strv_add(ret, "--tty");
	strv_add(ret, "--env=TERM=xterm-256color");
	strv_add(ret, variable);
	strv_add(ret, supervisor_container(s));
	for (unsigned i = 0; i < r->argc && text_split(&words, '\0', &word); i++)
		strv_add_n(ret, word.p, word.len);
}

int attach_exec_start(struct attach_session *x, const struct attach_request *r, const int *ends,
	const char *tty, struct error *err)
{
	struct supervisor *s = x->owner;
	AUTO(strv) argv = STRV_INIT(WORDS_MAX);
	struct attach_exec *e = mem_alloc(sizeof(*e));

	*e = (struct attach_exec){.client = CHILD_INIT, .exit_code = -1};
	x->exec = e;
	if (make_mark(e->mark, err) < 0)
		return -1;
	/* Before there is anything with that mark: a new supervisor will look for it. */
	note_mark(s, e->mark);
	make_words(x, r, e->mark, &argv);
	struct spawn spawn = {
		.path = s->plan.runtime.path,
		.argv = argv.v,
		.env = s->plan.client_env.v,
		.new_session = true,
		.tty = tty,
	};
	for (int i = 0; ends && i <= STDERR_FILENO; i++)
		spawn.fds[spawn.n_fds++] = (struct spawn_fd){ends[i], i};
	if (spawn_start(&spawn, &e->client, err) < 0)
		return -1;
	e->ended = loop_watch(s->loop, e->client.pidfd, EPOLLIN, on_client_ended, x);
	return 0;
}

static void on_left_swept(void *data, const struct engine_answer *answer)
{
	struct supervisor *s = data;

	s->left_sweep = NULL;
	if (answer->exit_code != 0)
		return;
	strv_foreach (mark, &s->left_marks)
		forget_mark(s, *mark);
	supervisor_persist(s, false);
}

void attach_exec_adopt(struct supervisor *s)
{
	auto_error struct error err = ERROR_INIT;
	const json_t *marks = json_object_get(record_supervision(s->record), SESSIONS);

	for (size_t i = 0; i < json_array_size(marks); i++) {
		const char *mark = json_string_value(json_array_get(marks, i));
		if (mark && text_is_hex(text_of(mark), ATTACH_MARK_SIZE - 1))
			strv_add(&s->left_marks, mark);
	}
	if (s->left_marks.n == 0)
		return;
	auto_free char *list = strv_join(&s->left_marks, "|");
	s->left_sweep = sweep(s, list, on_left_swept, s, &err);
	if (!s->left_sweep)
		log_warning("%s", err.message);
}

void attach_exec_done(struct supervisor *s)
{
	engine_call_cancel(s->left_sweep);
	s->left_sweep = NULL;
	strv_done(&s->left_marks);
}
