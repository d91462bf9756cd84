/*
 * A program that uses libcloop, as others write one: knows nothing but <cloop/container.h>.
 *     library-user HOME RUNTIME OCI_RUNTIME IMAGE PROJECT SCENARIO [HANDLE]
 * Prints what the scenario says, and `ok`; a check that fails is told on stderr with its line.
 */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cloop/container.h>

#define LEASE "lease_0123456789abcdef01234567"
#define OTHER "lease_0123456789abcdef01234568"
#define NONE "lease_ffffffffffffffffffffffff"
#define SECRET "canary-value-of-the-secret"
enum { PATIENCE_MS = 120000, THREADS = 2, LOOKS = 2, SEEN_MAX = 65536 };

static const char *home, *engine, *oci_runtime, *image, *project;
static struct cloop_error *err;

#define CHECK(what) \
	do { \
		if (!(what)) { \
			fprintf(stderr, "line %d: %s: %s: %s\n", __LINE__, #what, \
				cloop_error_code(err), cloop_error_message(err)); \
			exit(1); \
		} \
	} while (0)

static struct cloop_container_options options(void)
{
	struct cloop_container_options o;

	cloop_container_options_init(&o);
	o.runtime = engine;
	o.oci_runtime = oci_runtime;
	o.image = image;
	o.home = home;
	return o;
}

static struct cloop_container *open_one(void)
{
	struct cloop_container_options o = options();
	struct cloop_container *c = NULL;

	CHECK(cloop_container_new(&o, &c, err) == 0);
	return c;
}

static struct cloop_spec shell(const char *const argv[4], const char *script)
{
	struct cloop_spec s;

	cloop_spec_init(&s);
	((const char **)(size_t)argv)[0] = "sh";
	((const char **)(size_t)argv)[1] = "-c";
	((const char **)(size_t)argv)[2] = script;
	((const char **)(size_t)argv)[3] = NULL;
	s.work_dir = project;
	s.argv = argv;
	return s;
}

static void start(struct cloop_container *c, const char *script, char handle[CLOOP_HANDLE_SIZE])
{
	const char *argv[4];
	struct cloop_spec s = shell(argv, script);

	CHECK(cloop_container_start(c, NULL, &s, handle, err) == 0);
}

/* What was seen of a stream so far, both outputs in one. */
struct seen {
	char text[SEEN_MAX];
	size_t n;
	uint64_t seq;
};

static void see(struct seen *s, const struct cloop_log_line *line)
{
	CHECK(line->seq > s->seq);
	s->seq = line->seq;
	if (line->stream == CLOOP_LOG_NOTE || s->n + line->size >= SEEN_MAX)
		return;
	memcpy(s->text + s->n, line->data, line->size);
	s->n += line->size;
	s->text[s->n] = '\0';
}

/* Until this text was seen; NULL = until the end. */
static void follow(struct cloop_stream *stream, const char *until, struct seen *s)
{
	const struct cloop_log_line *line = NULL;
	struct cloop_cancel *patience = NULL;
	int r = 0;

	CHECK(cloop_cancel_new(PATIENCE_MS, &patience, err) == 0);
	while (!(until && strstr(s->text, until)) &&
		(r = cloop_stream_next(stream, patience, &line, err)) == 0)
		see(s, line);
	CHECK(r == (until ? 0 : 1));
	cloop_cancel_free(patience);
}

static void read_all(struct cloop_container *c, const char *handle, struct seen *s)
{
	struct cloop_stream *stream = NULL;

	memset(s, 0, sizeof(*s));
	CHECK(cloop_container_stream(c, handle, 0, &stream, err) == 0);
	follow(stream, NULL, s);
	cloop_stream_free(stream);
}

static void expect_end(struct cloop_container *c, const char *handle, const char *outcome, int code)
{
	struct cloop_status *status = NULL;

	CHECK(cloop_container_status(c, handle, &status, err) == 0);
	if (strcmp(status->outcome, outcome) || status->exit_code != code)
		fprintf(stderr, "%s\n", status->json);
	CHECK(strcmp(status->outcome, outcome) == 0 && status->exit_code == code);
	CHECK(status->state >= CLOOP_STATE_EXITED && status->finished_at[0]);
	cloop_status_free(status);
}

/* ---- About the executor ---- */

static void use_checks(struct cloop_container *c)
{
	struct cloop_preflight_report *report = NULL;
	struct cloop_smoke_result *smoke = NULL;
	char *text = NULL;

	CHECK(strcmp(cloop_container_id(c), CLOOP_CONTAINER_DEFAULT_ID) == 0);
	CHECK(strcmp(cloop_container_kind(c), "container") == 0);
	CHECK(strcmp(cloop_container_image(c), image) == 0);
	CHECK(strcmp(cloop_container_oci_runtime(c), oci_runtime) == 0);
	CHECK(strcmp(cloop_container_runtime(c)->name, engine) == 0);
	CHECK(!cloop_container_kernel_isolated(c) && !cloop_container_virtualized(c));
	CHECK(cloop_container_supports_revocation(c) && cloop_container_capabilities(c)->stream);
	CHECK(cloop_container_health_check(c, NULL, err) == 0);
	CHECK(cloop_container_preflight(c, NULL, project, &report, err) == 0);
	CHECK(cloop_preflight_ok(report) && cloop_preflight_err(report, err) == 0);
	cloop_preflight_report_free(report);
	CHECK(cloop_container_smoke_test(c, NULL, NULL, &smoke, err) == 0);
	CHECK(strncmp(smoke->output, "cloop ", 6) == 0);
	cloop_smoke_result_free(smoke);
	CHECK(cloop_container_resolve_digest(c, NULL, image, &text, err) == 1);
	CHECK(cloop_container_resolve_image(c, NULL, image, &text, err) == 0);
	cloop_string_free(text);
}

static void use_registry(void)
{
	struct cloop_container_options o = options();
	struct cloop_registry *registry = cloop_registry_new();
	struct cloop_container *a = NULL, *b = NULL;

	CHECK(cloop_container_ensure(registry, &o, &a, err) == 0);
	CHECK(cloop_container_ensure(registry, &o, &b, err) == 0 && a == b);
	cloop_container_unref(b);
	b = cloop_registry_get(registry, CLOOP_CONTAINER_DEFAULT_ID);
	CHECK(b == a && !cloop_registry_get(registry, "other"));
	cloop_container_unref(b);
	cloop_registry_free(registry);
	CHECK(cloop_container_ref(a) == a);
	cloop_container_unref(a);
	cloop_container_unref(a);
	o.runtime = "/nonexistent/podman";
	CHECK(cloop_container_new(&o, &a, err) < 0);
	CHECK(cloop_error_is(err, CLOOP_ERR_RUNTIME_MISSING));
	CHECK(cloop_error_http_status(err) == 409 && cloop_error_remediation(err)[0]);
}

/* ---- Sessions ---- */

/* All that a session prints; its exit code. */
static int drain(struct cloop_attach *a, char *out, size_t size)
{
	enum cloop_log_stream stream;
	size_t n = 0, got;
	int r;

	while ((r = cloop_attach_read(a, NULL, out + n, size - n - 1, &got, &stream, err)) == 0)
		n += got;
	out[n] = '\0';
	CHECK(r == 1);
	return cloop_attach_exit_code(a);
}

static void use_attach(struct cloop_container *c, const char *handle)
{
	const char *echo[] = {"sh", "-c", "cat; echo end >&2; exit 3", NULL};
	const char *size[] = {"sh", "-c", "read line; stty size", NULL};
	struct cloop_attach_request request;
	struct cloop_attach *a = NULL;
	char out[4096];

	cloop_attach_request_init(&request);
	request.handle = handle;
	request.argv = echo;
	request.write = true;
	CHECK(cloop_container_attach(c, NULL, &request, &a, err) == 0 && cloop_attach_fd(a) >= 0);
	CHECK(cloop_attach_write(a, NULL, "hello\n", 6, err) == 0);
	CHECK(cloop_attach_close_input(a, NULL, err) == 0);
	CHECK(drain(a, out, sizeof(out)) == 3 && strstr(out, "hello\n") && strstr(out, "end\n"));
	CHECK(cloop_attach_write(a, NULL, "x", 1, err) < 0);
	CHECK(cloop_error_is(err, CLOOP_ERR_ATTACH_CLOSED));
	cloop_attach_free(a);

	request.argv = size;
	request.tty = true;
	CHECK(cloop_container_attach(c, NULL, &request, &a, err) == 0);
	CHECK(cloop_attach_resize(a, NULL, 40, 100, err) == 0);
	CHECK(cloop_attach_write(a, NULL, "\n", 1, err) == 0);
	CHECK(drain(a, out, sizeof(out)) == 0 && strstr(out, "40 100"));
	cloop_attach_free(a);

	request.tty = request.write = false;
	request.argv = NULL;
	CHECK(cloop_container_attach(c, NULL, &request, &a, err) == 0);
	CHECK(cloop_attach_write(a, NULL, "x", 1, err) < 0);
	CHECK(cloop_error_is(err, "attach_read_only"));
	cloop_attach_free(a);
}

/* ---- A run with everything ---- */

static void expect_listed(struct cloop_container *c, const char *handle)
{
	struct cloop_status **statuses = NULL;
	char **list = NULL;

	CHECK(cloop_container_handles(c, &list, err) == 0);
	CHECK(strcmp(list[0], handle) == 0);
	cloop_strings_free(list);
	CHECK(cloop_container_handle_statuses(c, &statuses, err) == 0);
	CHECK(strcmp(statuses[0]->handle, handle) == 0);
	CHECK(statuses[0]->state == CLOOP_STATE_RUNNING && statuses[0]->started_at[0]);
	CHECK(strcmp(statuses[0]->project, project) == 0);
	cloop_statuses_free(statuses);
	CHECK(cloop_container_leases(c, &list, err) == 0);
	CHECK(list[0] && strcmp(list[0], LEASE) == 0 && !list[1]);
	cloop_strings_free(list);
	CHECK(cloop_container_holds_lease(c, LEASE) && !cloop_container_holds_lease(c, NONE));
}

static void use_run(struct cloop_container *c)
{
	static struct seen s;
	const char *argv[4], *env[] = {"GREETING=hello", NULL};
	const struct cloop_secret_file file = {.name = "key", .data = SECRET, .size = 26};
	const struct cloop_secret_variable variable = {.name = "TOKEN", .value = SECRET "-2"};
	const struct cloop_label label = {.key = "team", .value = "blue"};
	struct cloop_spec spec = shell(argv,
		"trap 'echo trapped; exit 7' TERM; echo $GREETING; cat /run/cloop/*/key; echo; "
		"echo $TOKEN >&2; echo ready; while :; do sleep 0.05; done");
	struct cloop_stream *stream = NULL;
	char handle[CLOOP_HANDLE_SIZE];

	spec.env = env;
	spec.lease = LEASE;
	spec.secret_files = &file;
	spec.n_secret_files = 1;
	spec.secret_variables = &variable;
	spec.n_secret_variables = 1;
	spec.labels = &label;
	spec.n_labels = 1;
	spec.title = "everything";
	spec.timeout_ms = PATIENCE_MS;
	CHECK(cloop_container_start(c, NULL, &spec, handle, err) == 0);
	memset(&s, 0, sizeof(s));
	CHECK(cloop_container_stream(c, handle, 0, &stream, err) == 0);
	follow(stream, "ready", &s);
	CHECK(strstr(s.text, "hello\n") && strstr(s.text, "[redacted]"));
	CHECK(!strstr(s.text, SECRET));
	expect_listed(c, handle);
	use_attach(c, handle);
	CHECK(cloop_container_signal(c, NULL, handle, CLOOP_SIGNAL_TERMINATE, err) == 0);
	follow(stream, NULL, &s);
	cloop_stream_free(stream);
	CHECK(strstr(s.text, "trapped\n"));
	expect_end(c, handle, "nonzero", 7);
	CHECK(cloop_container_signal(c, NULL, handle, CLOOP_SIGNAL_KILL, err) == 0);

	struct seen *again = calloc(1, sizeof(*again));
	read_all(c, handle, again);
	CHECK(again->n == s.n && again->seq == s.seq);
	free(again);
}

static void use_revocation(struct cloop_container *c)
{
	static struct seen s;
	const char *argv[4];
	const struct cloop_secret_file file = {
		.name = "key", .data = SECRET, .size = 26, .mode = 0400};
	struct cloop_spec spec = shell(argv, "while :; do sleep 0.05; done");
	struct cloop_revoke_request request;
	char handle[CLOOP_HANDLE_SIZE];

	spec.lease = OTHER;
	spec.secret_dir = "/run/cloop/secrets";
	spec.secret_files = &file;
	spec.n_secret_files = 1;
	CHECK(cloop_container_start(c, NULL, &spec, handle, err) == 0);
	cloop_revoke_request_init(&request);
	request.lease = NONE;
	struct cloop_revoke_outcome *o = cloop_container_revoke_lease(c, NULL, &request);
	CHECK(o->state == CLOOP_REVOKE_DONE && !o->held && !o->runs[0]);
	cloop_revoke_outcome_free(o);
	request.lease = OTHER;
	request.reason = "rotated";
	o = cloop_container_revoke_lease(c, NULL, &request);
	CHECK(o->state == CLOOP_REVOKE_DONE && o->held && !o->killed);
	CHECK(strcmp(o->runs[0], handle) == 0 && !o->runs[1]);
	CHECK(strcmp(o->files[0], "/run/cloop/secrets/key") == 0 && !o->files[1]);
	CHECK(o->ended_ns >= o->begun_ns);
	cloop_revoke_outcome_free(o);
	request.action = CLOOP_REVOKE_KILL;
	o = cloop_container_revoke_lease(c, NULL, &request);
	CHECK(o->state == CLOOP_REVOKE_DONE && o->held && o->killed);
	cloop_revoke_outcome_free(o);
	read_all(c, handle, &s);
	expect_end(c, handle, "revoked", 137);
	struct cloop_revoke_outcome **all = cloop_container_revocations(c);
	CHECK(all[0] && all[1] && all[2] && !all[3] && all[2]->killed);
	cloop_revoke_outcomes_free(all);
}

/* ---- Giving up ---- */

static void use_cancel(struct cloop_container *c)
{
	static struct seen s;
	const char *argv[4];
	struct cloop_spec spec = shell(argv, "while :; do sleep 0.05; done");
	struct cloop_cancel *cancel = NULL;
	struct cloop_stream *stream = NULL;
	const struct cloop_log_line *line = NULL;
	char handle[CLOOP_HANDLE_SIZE], **names = NULL;

	start(c, "while :; do sleep 0.05; done", handle);
	CHECK(cloop_container_stream(c, handle, 0, &stream, err) == 0);
	CHECK(cloop_cancel_new(100, &cancel, err) == 0);
	CHECK(cloop_stream_next(stream, cancel, &line, err) < 0);
	CHECK(cloop_error_is(err, CLOOP_ERR_CANCELLED) && cloop_cancel_is_set(cancel));
	cloop_cancel_free(cancel);
	CHECK(cloop_container_signal(c, NULL, handle, CLOOP_SIGNAL_KILL, err) == 0);
	memset(&s, 0, sizeof(s));
	follow(stream, NULL, &s);
	cloop_stream_free(stream);
	expect_end(c, handle, "cancelled", 137);

	CHECK(cloop_cancel_new(-1, &cancel, err) == 0 && !cloop_cancel_is_set(cancel));
	cloop_cancel_trigger(cancel);
	CHECK(cloop_container_start(c, cancel, &spec, handle, err) < 0 && !handle[0]);
	CHECK(cloop_error_is(err, CLOOP_ERR_START_CANCELLED));
	CHECK(cloop_container_reap_orphans(c, cancel, &names, err) < 0 && names && !names[0]);
	CHECK(cloop_error_is(err, CLOOP_ERR_CANCELLED));
	cloop_strings_free(names);
	cloop_cancel_free(cancel);
	/* A start that has begun. */
	CHECK(cloop_cancel_new(20, &cancel, err) == 0);
	CHECK(cloop_container_start(c, cancel, &spec, handle, err) < 0 && !handle[0]);
	CHECK(cloop_error_is(err, CLOOP_ERR_START_CANCELLED));
	cloop_cancel_free(cancel);
}

/* ---- Several threads on one object ---- */

static void *one_thread(void *data)
{
	struct cloop_container *c = data;
	struct cloop_error *mine = cloop_error_new();
	struct cloop_stream *stream = NULL;
	const struct cloop_log_line *line = NULL;
	const char *argv[4];
	struct cloop_spec spec = shell(argv, "read x; echo $(seq 1 100)");
	char handle[CLOOP_HANDLE_SIZE];
	size_t n = 0;
	int r;

	if (cloop_container_start(c, NULL, &spec, handle, mine) < 0 ||
		cloop_container_stream(c, handle, 0, &stream, mine) < 0)
		fprintf(stderr, "thread: %s\n", cloop_error_message(mine));
	while (stream && (r = cloop_stream_next(stream, NULL, &line, mine)) == 0)
		n += line->size;
	cloop_stream_free(stream);
	cloop_error_free(mine);
	return n == strlen("1 2 3 4 5 6 7 8 9 ") + 90 * 3 + 4 ? data : NULL;
}

/* Meanwhile: what belongs to a run that lives is nobody's leftover. */
static void *look_on(void *data)
{
	struct cloop_container *c = cloop_container_ref(data);
	struct cloop_error *mine = cloop_error_new();
	struct cloop_status **statuses = NULL;
	char **reaped = NULL;
	void *good = data;

	for (int i = 0; i < LOOKS; i++) {
		if (cloop_container_handle_statuses(c, &statuses, mine) < 0 ||
			cloop_container_reap_orphans(c, NULL, &reaped, mine) < 0 || reaped[0])
			good = NULL;
		cloop_statuses_free(statuses);
		cloop_strings_free(reaped);
		statuses = NULL;
		reaped = NULL;
		cloop_revoke_outcomes_free(cloop_container_revocations(c));
	}
	cloop_error_free(mine);
	cloop_container_unref(c);
	return good;
}

static void use_threads(struct cloop_container *c)
{
	pthread_t threads[THREADS], other;
	void *good = NULL;

	for (int i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, one_thread, c) == 0);
	CHECK(pthread_create(&other, NULL, look_on, c) == 0);
	CHECK(pthread_join(other, &good) == 0 && good == c);
	for (int i = 0; i < THREADS; i++)
		CHECK(pthread_join(threads[i], &good) == 0 && good == c);
}

/* ---- Scenarios ---- */

static int count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = -1;

	CHECK(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void do_all(const char *unused)
{
	struct cloop_container *c = open_one();
	char **names = NULL;
	int before;

	(void)unused;
	use_checks(c);
	use_registry();
	before = count_fds();
	use_run(c);
	use_revocation(c);
	use_cancel(c);
	use_threads(c);
	CHECK(cloop_container_reap_orphans(c, NULL, &names, err) == 0);
	cloop_strings_free(names);
	CHECK(count_fds() == before);
	cloop_container_unref(c);
	CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

static void do_some(const char *unused)
{
	struct cloop_container *c = open_one();

	(void)unused;
	use_run(c);
	cloop_container_unref(c);
}

/* Prints the handle of a run that goes on. */
static void do_start(const char *unused)
{
	struct cloop_container *c = open_one();
	char handle[CLOOP_HANDLE_SIZE];

	(void)unused;
	start(c, "trap 'echo trapped; exit 7' TERM; echo ready; while :; do sleep 0.05; done",
		handle);
	cloop_container_unref(c);
	printf("%s\n", handle);
}

/* Another process, later: finds it in the home, and ends it. */
static void do_adopt(const char *handle)
{
	static struct seen s;
	const char *kept = home;
	struct cloop_stream *stream = NULL;

	home = NULL;
	struct cloop_container *c = open_one();
	CHECK(cloop_container_stream(c, handle, 0, &stream, err) < 0);
	CHECK(cloop_error_is(err, CLOOP_ERR_HANDLE_NOT_FOUND));
	CHECK(cloop_container_attach_home(c, kept, err) == 0);
	CHECK(cloop_container_attach_home(c, kept, err) == 0);
	CHECK(cloop_container_stream(c, handle, 0, &stream, err) == 0);
	follow(stream, "ready", &s);
	CHECK(cloop_container_signal(c, NULL, handle, CLOOP_SIGNAL_TERMINATE, err) == 0);
	follow(stream, NULL, &s);
	cloop_stream_free(stream);
	CHECK(strstr(s.text, "trapped"));
	expect_end(c, handle, "nonzero", 7);
	cloop_container_unref(c);
}

/* What a fork()ed child gives up is a copy: it ends no run of ours. */
static void give_up_in_a_child(struct cloop_container *c)
{
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0) {
		cloop_container_unref(c);
		_exit(0);
	}
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
}

/* A home of its own goes with the object, and what runs there. */
static void *let_go(void *data)
{
	cloop_container_unref(data);
	return NULL;
}

static void do_private(const char *unused)
{
	static struct seen s;
	struct cloop_status *status = NULL;
	struct cloop_stream *stream = NULL;
	const struct cloop_log_line *line = NULL;
	pthread_t thread;
	char handle[CLOOP_HANDLE_SIZE];

	(void)unused;
	home = NULL;
	struct cloop_container *c = open_one();
	start(c, "echo begun; while :; do sleep 0.05; done", handle);
	give_up_in_a_child(c);
	CHECK(cloop_container_stream(c, handle, 0, &stream, err) == 0);
	follow(stream, "begun", &s);
	CHECK(cloop_container_status(c, handle, &status, err) == 0);
	CHECK(status->state == CLOOP_STATE_RUNNING);
	cloop_status_free(status);
	/* It ends under a reader, who may see the end before the home is gone. */
	CHECK(pthread_create(&thread, NULL, let_go, c) == 0);
	while (cloop_stream_next(stream, NULL, &line, err) == 0)
		see(&s, line);
	CHECK(pthread_join(thread, NULL) == 0);
	cloop_stream_free(stream);
}

static const struct {
	const char *name;
	void (*run)(const char *handle);
} scenarios[] = {{"all", do_all}, {"some", do_some}, {"start", do_start}, {"adopt", do_adopt},
	{"private", do_private}};

int main(int argc, char **argv)
{
	if (argc < 7)
		return 2;
	home = argv[1];
	engine = argv[2];
	oci_runtime = argv[3];
	image = argv[4];
	project = argv[5];
	err = cloop_error_new();
	/* A program that ignores its children's ends; the library must know its own. */
	signal(SIGCHLD, SIG_IGN);
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
		if (strcmp(argv[6], scenarios[i].name) == 0)
			scenarios[i].run(argv[7]);
	cloop_error_free(err);
	puts("ok");
	return 0;
}
