#include "executor/container/driver/client.h"

#include <sys/wait.h>

#include "base/mem.h"
#include "executor/container/environment.h"
#include "executor/container/failure.h"
#include "sys/file.h"

enum { ARGS_MAX = 80, STDERR_MAX = 64 << 10 };

int client_environment(
	const struct runtime *runtime, const char *home, struct strv *ret, struct error *err)
{
	auto_free char *config = mem_printf("%s/docker", home);

	if (runtime->engine == ENGINE_DOCKER && file_make_dirs(config, 0700, err) < 0)
		return -1;
	environment_client(runtime->engine, environ, runtime->endpoint, config, ret);
	return 0;
}

int client_run(const struct client_call *call, struct captured *ret, struct error *err)
{
	AUTO(strv) argv = STRV_INIT(ARGS_MAX);
	AUTO(captured) answer = {.status = 0};

	strv_add(&argv, engine_text(call->runtime->engine));
	for (size_t i = 0; call->args[i]; i++)
		strv_add(&argv, call->args[i]);
	struct spawn s = {
		.path = call->runtime->path,
		.argv = argv.v,
		.env = call->env->v,
		.new_session = true,
	};
	struct capture how = {
		.stdout_max = call->stdout_max,
		.stderr_max = STDERR_MAX,
		.timeout_ms = call->timeout_ms,
		.cancel_fd = call->cancel_fd,
	};
	if (spawn_capture(&s, &how, &answer, err) < 0)
		return -1;
	if (answer.timed_out)
		return error_set(err, ERROR_ENGINE_TIMEOUT, "%s %s did not answer within %lld s",
			argv.v[0], call->args[0], (long long)(call->timeout_ms / 1000));
	if (answer.cancelled)
		return error_set(err,
			call->cancel_fd >= 0 ? ERROR_START_CANCELLED : ERROR_CANCELLED,
			"%s %s was cancelled", argv.v[0], call->args[0]);
	bool good = WIFEXITED(answer.status) && WEXITSTATUS(answer.status) == 0;
	*ret = answer;
	answer = (struct captured){.status = 0};
	return good ? 0 : 1;
}

int client_explain(const struct client_call *call, const struct captured *answer, const char *image,
	struct error *err)
{
	struct failure f = {
		.engine = call->runtime->engine,
		.call = text_of(call->args[0]),
		.image = text_of(image),
		.err = &answer->err,
		.out = &answer->out,
	};

	return failure_explain(&f, err);
}

int client_ask(const struct client_call *call, struct captured *ret, struct error *err)
{
	int r = client_run(call, ret, err);

	return r == 1 ? client_explain(call, ret, "", err) : r;
}
