#include "executor/container/driver/daemon.h"

#include "base/json.h"
#include "executor/container/detect.h"
#include "executor/container/driver/client.h"
#include "executor/container/remember.h"

enum { INFO_TIMEOUT_MS = 20000, INFO_MAX = 1 << 20 };

/*
 * What changes with the daemon: its socket, which every daemon makes anew unless systemd holds it;
 * then the file of its pid, at its usual place, and its configuration there. NULL: not known.
 */
static json_t *stamps_of(const struct runtime *r)
{
	AUTO(strv) files = STRV_INIT(REMEMBER_FILES_MAX);

	if (!runtime_socket(r))
		return NULL;
	strv_add(&files, runtime_socket(r));
	strv_add(&files, "/run/docker.pid");
	strv_add(&files, "/etc/docker/daemon.json");
	return remember_stamps(&files);
}

int daemon_ask(const struct daemon_question *q, struct error *err)
{
	AUTO(captured) answer = {.status = 0};
	const char *args[] = {"info", "--format={{json .}}", NULL};
	struct client_call call = {
		.runtime = q->runtime,
		.env = q->env,
		.args = args,
		.timeout_ms = INFO_TIMEOUT_MS,
		.stdout_max = INFO_MAX,
		.cancel_fd = q->cancel_fd,
	};

	if (client_ask(&call, &answer, err) < 0)
		return -1;
	if (q->runtime->engine != ENGINE_DOCKER)
		return 0;
	return detect_check_docker_info((struct text){str_text(&answer.out), answer.out.len}, err);
}

int daemon_pass(const struct daemon_question *q, struct error *err)
{
	if (q->runtime->engine != ENGINE_DOCKER)
		return 0;
	auto_json *known = remember_get(q->home, "daemon", text_of(q->runtime->endpoint));
	if (known)
		return 0;
	auto_json *stamps = stamps_of(q->runtime);
	if (daemon_ask(q, err) < 0)
		return -1;
	auto_json *good = json_true();
	if (stamps)
		remember_put(q->home, "daemon", text_of(q->runtime->endpoint), stamps, good);
	return 0;
}
