#include "executor/container/driver/derived-build.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>

#include "base/json.h"
#include "base/mem.h"
#include "executor/container/driver/build-leftovers.h"
#include "executor/container/driver/build-orphans.h"
#include "executor/container/driver/build-process.h"
#include "executor/container/failure.h"
#include "sys/clock.h"
#include "sys/fault.h"
#include "sys/file.h"
#include "sys/log.h"

enum { CALL_MS = 60000, STDOUT_MAX = 65536, DOCKERFILE_MAX = 1 << 20, ENV_MAX = 80 };
enum { MESSAGE_OUTPUT_MAX = 700, NONCE_BYTES = 8 };

/* The files of one build, and its temporary tag. */
struct work {
	const struct derived_build *build;
	int folder;           /* <home>/builds */
	char *context, *file; /* names in it */
	char *context_path, *file_path;
	char nonce[2 * NONCE_BYTES + 1];
	char *tag;    /* localhost/cloop-sandbox:build-NONCE */
	json_t *base; /* the whole answer */
};

static void work_done(struct work *w)
{
	if (w->folder >= 0) {
		(void)!unlinkat(w->folder, w->file, 0);
		(void)!unlinkat(w->folder, w->context, AT_REMOVEDIR);
		close(w->folder);
	}
	free(w->context);
	free(w->file);
	free(w->context_path);
	free(w->file_path);
	free(w->tag);
	json_decref(w->base);
}

/* A directory and a file that are this key's alone: its lock is ours. */
static int work_begin(struct work *w, struct error *err)
{
	const struct derived_build *b = w->build;
	auto_free char *path = mem_printf("%s/builds", b->answers->home);
	auto_free char *log = mem_printf("%s.log", b->key);
	unsigned char random[NONCE_BYTES];

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return error_set_errno(err, ERROR_IO, errno, "getting random bytes");
	hex_encode(random, sizeof(random), w->nonce);
	w->tag = mem_printf(SETUP_NAME ":build-%s", w->nonce);
	w->context = mem_printf("%s.context", b->key);
	w->file = mem_printf("%s.id", b->key);
	w->context_path = mem_printf("%s/%s", path, w->context);
	w->file_path = mem_printf("%s/%s", path, w->file);
	w->folder = file_open_folder(b->answers->home, "builds", true, err);
	if (w->folder < 0)
		return -1;
	if (file_remove_tree_at(w->folder, w->context, err) < 0 ||
		file_remove_tree_at(w->folder, w->file, err) < 0)
		return -1;
	if (mkdirat(w->folder, w->context, 0700) < 0)
		return error_set_errno(
			err, ERROR_IO, errno, "making %s", quoted_string(w->context_path));
	return build_output_open_log(b->output, w->folder, log, err);
}

/* ---- Calls of the engine ---- */

static int call(const struct derived_build *b, const char *const *args, struct error *err)
{
	AUTO(captured) answer = {.status = 0};
	struct client_call c = {
		.runtime = b->answers->runtime,
		.env = b->answers->env,
		.args = args,
		.timeout_ms = CALL_MS,
		.stdout_max = STDOUT_MAX,
		.cancel_fd = -1,
	};

	return client_ask(&c, &answer, err);
}

/* Best effort: what could not be removed is the reaper's. */
static void remove_name(const struct derived_build *b, const char *name)
{
	auto_error struct error err = ERROR_INIT;
	const char *args[] = {"rmi", name, NULL};

	if (call(b, args, &err) < 0)
		log_debug("%s", err.message);
}

/* ---- The client's words ---- */

static void make_argv(const struct work *w, struct strv *ret)
{
	const struct derived_build *b = w->build;
	AUTO(strv) plain = STRV_INIT(SETUP_ARGV_MAX);
	struct setup_build setup = {
		.engine = b->facts->engine,
		.program = engine_text(b->answers->runtime->engine),
		.nonce = w->nonce,
		.iidfile = w->file_path,
		.network = b->network,
		.cpu_millis = b->facts->cpu_millis,
		.memory_mb = b->facts->memory_mb,
		.ulimits = b->ulimits,
		.context = w->context_path,
	};

	setup_build_argv(&setup, &plain);
	strv_add(ret, plain.v[0]);
	/* A global option of podman 4.3; docker's builder has the daemon's default only. */
	if (b->facts->engine == IMAGE_STORE_PODMAN && b->oci_runtime[0])
		strv_addf(ret, "--runtime=%s", b->oci_runtime);
	for (size_t i = 1; i < plain.n; i++)
		strv_add(ret, plain.v[i]);
}

static void make_env(const struct derived_build *b, struct strv *ret)
{
	strv_add_all(ret, b->answers->env);
	if (b->facts->engine == IMAGE_STORE_DOCKER)
		strv_add(ret, "DOCKER_BUILDKIT=0");
}

/* ---- What became of it ---- */

int derived_build_too_late(struct error *err)
{
	error_set(err, ERROR_SETUP_TIMEOUT,
		"the setup commands of .cloop/sandbox.yaml did not end in time");
	return error_set_remedy(err,
		"a command that waits for input never ends: give it its answers or a flag such as "
		"-y, or build the image beforehand and name it in image:");
}

/* The client never came to a first step: the engine's failure, not the commands'. */
static int explain_engine(const struct derived_build *b, struct text words, struct error *err)
{
	AUTO(str) out = STR_INIT(1);
	AUTO(str) text = STR_INIT(BUILD_OUTPUT_BYTES + 1);
	struct failure f = {
		.engine = b->answers->runtime->engine,
		.call = TEXT("build"),
		.err = &text,
		.out = &out,
	};

	str_add(&text, words.p, words.len);
	return failure_explain(&f, err);
}

static bool has_nocase(struct text t, const char *words)
{
	for (; t.len > 0; t = text_after(t, 1))
		if (text_starts_nocase(t, words))
			return true;
	return false;
}

static bool has_one(struct text t, const char *const *words)
{
	for (; *words; words++)
		if (has_nocase(t, *words))
			return true;
	return false;
}

/* The OCI runtime's own words, as the engine passes them on: runc's, crun's. */
static bool says_no_shell(struct text line)
{
	return (text_has(line, "exec: ") &&
		       text_has(line, "stat /bin/sh: no such file or directory")) ||
	       has_nocase(line, "executable file `/bin/sh` not found") ||
	       has_nocase(line, "executable file '/bin/sh' not found");
}

static bool sounds_like_network(struct text line)
{
	static const char *const words[] = {"resolve", "resolution", "network", "connection",
		"connect to", "unreachable", "timed out", "timeout", "bad address", "unknown host",
		"name or service", "no route", "getaddrinfo", NULL};

	return has_one(line, words);
}

/* The builder's lines that show a command. */
static bool is_step(struct text line)
{
	return text_starts_nocase(line, "step ") || text_has(line, "building at STEP ") ||
	       text_starts(line, "The command '");
}

/* A package manager that finds no package need not say that it reached nobody. */
static void add_no_network(struct error *err)
{
	auto_free char *usual = mem_strdup(error_remedy(err));

	error_set_remedy(err, "%s; the build had no network", usual);
}

static void add_hint(const struct derived_build *b, struct text words, struct error *err)
{
	bool no_shell = false, network = false, no_slirp = false;
	struct text line;

	while (text_split(&words, '\n', &line))
		if (!is_step(line)) {
			no_shell = no_shell || says_no_shell(line);
			network = network || sounds_like_network(line);
		} else
			no_slirp = no_slirp || text_has(line, "from slirp4netns sync pipe");
	if (no_shell)
		error_set_remedy(err,
			"setup needs /bin/sh in the image: name an image that has one, or build "
			"the image beforehand");
	else if (no_slirp)
		error_set_remedy(err,
			"the engine could not make the build's network: cloop executor test says "
			"what is missing on this host");
	else if (network && strcmp(b->network, "none") == 0)
		error_set_remedy(err,
			"look at the output; the build had no network, since the run has none or "
			"a filtered one: put what it downloads into the image named in image:");
	else if (strcmp(b->network, "none") == 0)
		add_no_network(err);
}

static int explain_commands(const struct derived_build *b, int status, struct error *err)
{
	struct text words = build_output_last_lines(b->output), rest = words, line;
	AUTO(str) joined = STR_INIT(2 * BUILD_OUTPUT_BYTES);
	bool exited = WIFEXITED(status);
	int n = exited ? WEXITSTATUS(status) : WTERMSIG(status);

	while (text_split(&rest, '\n', &line))
		str_addf(&joined, "%s%.*s", joined.len ? " / " : "", (int)line.len, line.p);
	size_t from = joined.len > MESSAGE_OUTPUT_MAX ? joined.len - MESSAGE_OUTPUT_MAX : 0;
	/* The first line that is whole; of a longer one its end. */
	const char *border = from > 0 ? strstr(joined.data + from, " / ") : NULL;
	if (border)
		from = (size_t)(border + strlen(" / ") - joined.data);
	while (from > 0 && from < joined.len && (joined.data[from] & 0xc0) == 0x80)
		from++;
	error_set(err, ERROR_SETUP_FAILED,
		"the setup commands of .cloop/sandbox.yaml failed with %s %d: %s",
		exited ? "exit status" : "signal", n, str_text(&joined) + from);
	add_hint(b, words, err);
	if (exited)
		error_add_detail(err, "exit_status", json_integer(n));
	return error_add_detail(err, "output", json_from_bytes(words));
}

/* The client could not write the file for the ID: the home's fault. False: nothing of the sort. */
static bool explain_home(const struct work *w, struct error *err)
{
	const char *home = w->build->answers->home;
	struct text words = build_output_last_lines(w->build->output), line;

	while (text_split(&words, '\n', &line)) {
		if (is_step(line) || !text_has(line, w->file_path))
			continue;
		bool full = has_nocase(line, "no space left") || has_nocase(line, "quota exceeded");
		error_set(err, full ? ERROR_NO_SPACE : ERROR_IO,
			"the ID of the built image cannot be written below %s: %s",
			quoted_string(home), quoted(line));
		if (full)
			error_set_remedy(err, "free space in cloop's home, %s", home);
		else
			error_set_remedy(err,
				"look at cloop's home, %s: it must exist and be writable", home);
		return true;
	}
	return false;
}

static int judge(const struct work *w, const struct build_outcome *o, struct error *err)
{
	const struct derived_build *b = w->build;

	if (o->end == BUILD_TOO_LATE)
		return derived_build_too_late(err);
	if (o->end == BUILD_CANCELLED)
		return error_set(err, ERROR_START_CANCELLED,
			"the start was cancelled while its image was built");
	if (WIFEXITED(o->status) && WEXITSTATUS(o->status) == 0)
		return 0;
	if (explain_home(w, err))
		return -1;
	if (!b->output->began)
		return explain_engine(b, build_output_last_lines(b->output), err);
	return explain_commands(b, o->status, err);
}

/* ---- The image ---- */

bool derived_build_id_of(const json_t *inspect, char ret_id[IMAGE_DIGEST_MAX + 1])
{
	static const char prefix[] = "sha256:";
	struct text id = json_get_text(inspect, "Id");

	if (text_starts(id, prefix))
		id = text_after(id, strlen(prefix));
	if (!text_is_hex(id, 64))
		return false;
	snprintf(ret_id, IMAGE_DIGEST_MAX + 1, "%s%.64s", prefix, id.p);
	return true;
}

static int refuse_triggers(const struct derived_build *b, struct error *err)
{
	return error_set(err, ERROR_SETUP_ONBUILD,
		"the base image %s has ONBUILD triggers, which would run in a build for setup",
		quoted_string(b->facts->base));
}

/* The image behind the client's answer is what was asked for. */
static int verify(const struct work *w, char ret_id[IMAGE_DIGEST_MAX + 1], struct error *err)
{
	const struct derived_build *b = w->build;
	AUTO(str) file = STR_INIT(256);
	char made[IMAGE_DIGEST_MAX + 1];

	if (file_read(w->file_path, 255, &file, err) < 0)
		return error_prefix(err, "the ID of the built image");
	struct text id = text_trim(text_of(str_text(&file)));
	auto_free char *name = mem_strndup(id.p, id.len);
	auto_json *built = image_answers_ask_id(b->answers, name, err);
	if (!built)
		return -1;
	if (b->facts->engine == IMAGE_STORE_PODMAN &&
		!derived_history_matches(built, w->base, b->facts))
		return refuse_triggers(b, err);
	if (!derived_build_id_of(built, made) || !text_is(id, made) ||
		!derived_matches(built, w->base, b->facts, b->key))
		return error_set(err, ERROR_ENGINE_FAILED,
			"the image that was built is not one of this base and setup");
	memcpy(ret_id, made, sizeof(made));
	return 0;
}

static int finish(const struct work *w, char ret_id[IMAGE_DIGEST_MAX + 1], struct error *err)
{
	const struct derived_build *b = w->build;
	auto_free char *name = mem_printf(SETUP_NAME ":%s", b->key);
	char id[IMAGE_DIGEST_MAX + 1];
	const char *args[] = {"tag", id, name, NULL};

	fault_hit("build:built");
	if (verify(w, id, err) < 0 || call(b, args, err) < 0)
		return -1;
	fault_hit("build:tagged");
	memcpy(ret_id, id, sizeof(id));
	return 0;
}

static int run_client(const struct work *w, struct text dockerfile, struct error *err)
{
	const struct derived_build *b = w->build;
	AUTO(strv) argv = STRV_INIT(SETUP_ARGV_MAX + 1);
	AUTO(strv) env = STRV_INIT(ENV_MAX);
	struct build_outcome outcome = {.end = BUILD_ENDED};

	AUTO(build_leftovers)
	leftovers = {.answers = b->answers, .facts = b->facts, .key = b->key};
	build_leftovers_begin(&leftovers);
	make_argv(w, &argv);
	make_env(b, &env);
	struct build_process process = {
		.runtime = b->answers->runtime,
		.argv = &argv,
		.env = &env,
		.dockerfile = dockerfile,
		.deadline_ms = b->deadline_ms,
		.cancel_fd = b->answers->cancel_fd,
		.output = b->output,
	};
	int r = build_process_run(&process, &outcome, err);
	if (r == 0)
		r = judge(w, &outcome, err);
	leftovers.forced = outcome.forced;
	if (r < 0)
		build_leftovers_remove(&leftovers);
	return r;
}

int derived_build_run(
	const struct derived_build *b, char ret_id[IMAGE_DIGEST_MAX + 1], struct error *err)
{
	AUTO(work) w = {.build = b, .folder = -1};
	struct build_orphans orphans = {
		.runtime = b->answers->runtime, .env = b->answers->env, .home = b->answers->home};
	AUTO(str) dockerfile = STR_INIT(DOCKERFILE_MAX);

	if (setup_dockerfile(b->facts, b->key, &dockerfile, err) < 0)
		return -1;
	w.base = image_answers_ask_id(b->answers, b->facts->base_id, err);
	if (!w.base)
		return -1;
	if (derived_base_has_triggers(w.base))
		return refuse_triggers(b, err);
	build_orphans_end(&orphans, b->key);
	if (work_begin(&w, err) < 0)
		return -1;
	fault_hit("build:begin");
	int r = run_client(&w, (struct text){str_text(&dockerfile), dockerfile.len}, err);
	if (r == 0)
		r = finish(&w, ret_id, err);
	remove_name(b, w.tag);
	return r;
}
