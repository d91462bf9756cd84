#include "guest/standalone.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/container/init/init-exec.h"
#include "guest/launch.h"
#include "guest/process.h"

enum { WORD_SHOWN_MAX = 200, EXIT_NO_SIGNALS = 125 };

/* The word for a message: bounded, one line, whatever is in it. */
static void show_word(const char *word, char out[WORD_SHOWN_MAX + 1])
{
	size_t i = 0;

	for (; i < WORD_SHOWN_MAX && word[i]; i++)
		out[i] = word[i] >= 0x20 && word[i] < 0x7f ? word[i] : '?';
	out[i] = '\0';
}

static int not_started(const char *word, const struct init_failure *f)
{
	static const char *const sentences[] = {
		[INIT_VERDICT_NOT_FOUND] = "command not found",
		[INIT_VERDICT_NOT_EXECUTABLE] = "command cannot be executed",
		[INIT_VERDICT_EXEC_FAILED] = "starting the command failed",
	};
	enum init_exec_verdict v = init_exec_judge(f);
	char shown[WORD_SHOWN_MAX + 1];

	show_word(word, shown);
	process_complain((const char *[]){sentences[v], ": \"", shown,
		"\": ", init_step_text(f->step), ": ", strerror((int)f->error), NULL});
	return init_exec_exit_status(v);
}

/* True and the status when `child` itself has ended; others are only reaped. */
static bool reap(pid_t child, uint32_t *ret)
{
	bool ended = false;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (pid == child) {
			*ret = (uint32_t)status;
			ended = true;
		}
	return ended;
}

static uint32_t supervise(int signals, pid_t child)
{
	struct pollfd p = {.fd = signals, .events = POLLIN};
	struct caught caught;
	uint32_t status = 0;

	for (;;) {
		poll(&p, 1, -1);
		process_read_signals(signals, &caught);
		for (unsigned i = 0; i < caught.n; i++)
			kill(-child, (int)caught.numbers[i]);
		if (caught.child && reap(child, &status))
			return status;
	}
}

int standalone_main(char **argv)
{
	struct launch l = {.argv = argv, .envp = environ, .stdio = {0, 1, 2}};
	struct launched started;
	struct init_failure f;
	int signals = process_prepare();

	if (signals < 0) {
		process_complain(
			(const char *[]){"signals cannot be read: ", strerror(errno), NULL});
		return EXIT_NO_SIGNALS;
	}
	process_undumpable();
	if (launch_start(&l, &started, &f) < 0 || launch_wait(&started.result, &f) == LAUNCH_FAILED)
		return not_started(argv[0], &f);
	return init_wait_status_code(supervise(signals, started.pid));
}
