#include "executor/container/supervise/ip-call.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/container/ip-program.h"
#include "sys/spawn.h"

enum { TIMEOUT_MS = 10000, WORDS_MAX = 32, STDERR_MAX = 4096, QUOTE_MAX = 200, NS_FD = 3 };

int ip_call_possible(struct error *err)
{
	if (geteuid() != 0)
		return error_set(err, ERROR_EXECUTOR_UNSUPPORTED,
			"only root can move an interface into a sandbox");
	if (!ip_program_ip() || !ip_program_nsenter())
		return error_set(err, ERROR_EXECUTOR_UNSUPPORTED,
			"moving an interface needs the programs ip and nsenter");
	return 0;
}

static int failed(const struct strv *argv, const struct captured *c, struct error *err)
{
	AUTO(str) said = STR_INIT(2048);
	auto_free char *line = strv_join(argv, " ");

	if (c->timed_out)
		return error_set(err, ERROR_IO, "%s did not end in time", quoted_string(line));
	text_escape(&said, text_trim((struct text){str_text(&c->err), c->err.len}), QUOTE_MAX);
	return error_set(err, ERROR_IO, "%s: %s", quoted_string(line), str_text(&said));
}

/* ip with these words; its output into *ret. */
static int run(int ns, const struct strv *words, struct captured *ret, struct error *err)
{
	AUTO(strv) argv = STRV_INIT(WORDS_MAX);
	const struct capture how = {.stdout_max = IP_ANSWER_MAX,
		.stderr_max = STDERR_MAX,
		.timeout_ms = TIMEOUT_MS,
		.cancel_fd = -1};
	char *env[] = {(char[]){"LC_ALL=C"}, NULL};
	const char *ip = ip_program_ip(), *nsenter = ip_program_nsenter();

	if (!ip || !nsenter)
		return ip_call_possible(err);
	if (ns >= 0) {
		strv_add(&argv, "nsenter");
		strv_addf(&argv, "--net=/proc/self/fd/%d", NS_FD);
		strv_add(&argv, "--");
	}
	strv_add(&argv, ns >= 0 ? ip : "ip");
	if (strv_add_all(&argv, words) < 0)
		return error_set(err, ERROR_INTERNAL, "too many words for ip");
	struct spawn s = {.path = ns >= 0 ? nsenter : ip,
		.argv = argv.v,
		.env = env,
		.fds = {{ns, NS_FD}},
		.n_fds = ns >= 0};
	if (spawn_capture(&s, &how, ret, err) < 0)
		return -1;
	if (!ret->timed_out && WIFEXITED(ret->status) && WEXITSTATUS(ret->status) == 0)
		return 0;
	return failed(&argv, ret, err);
}

int ip_call_step(int ns, const struct ip_step *step, struct error *err)
{
	AUTO(captured) c = {.status = 0};

	return run(step->inside ? ns : -1, &step->words, &c, err);
}

static int ask(int ns, const char *const *words, struct captured *ret, struct error *err)
{
	AUTO(strv) list = STRV_INIT(WORDS_MAX);

	for (; *words; words++)
		strv_add(&list, *words);
	return run(ns, &list, ret, err);
}

int ip_call_links(int ns, struct ip_links *ret, struct error *err)
{
	static const char *const words[] = {"-j", "link", "show", NULL};
	AUTO(captured) c = {.status = 0};

	if (ask(ns, words, &c, err) < 0)
		return -1;
	return ip_answer_links((struct text){str_text(&c.out), c.out.len}, ret, err);
}

int ip_call_default_route(const char *interface, char **ret, struct error *err)
{
	static const char *const families[] = {"-4", "-6"};

	for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
		const char *const words[] = {
			families[i], "-j", "route", "show", "table", "all", "default", NULL};
		AUTO(captured) c = {.status = 0};
		if (ask(-1, words, &c, err) < 0)
			return -1;
		int r = ip_answer_default_route(
			(struct text){str_text(&c.out), c.out.len}, interface, ret, err);
		if (r != 0)
			return r;
	}
	return 0;
}
