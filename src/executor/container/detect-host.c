/*
 * The effects of detect.h: looks at files, and asks programs that were found safe.
 */
#include "executor/container/detect.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "executor/container/environment.h"
#include "executor/container/failure.h"
#include "executor/container/remember.h"
#include "sys/env.h"
#include "sys/file.h"
#include "sys/spawn.h"

enum { OUTPUT_BYTES_MAX = 4096, CLIENT_VARIABLES_MAX = 64, LINKS_MAX = 40 /* as the kernel */ };

/* Of the directory that the first n bytes of path name. */
static bool gather_dir(struct detect_file *f, const char *path, size_t n)
{
	auto_free char *dir = mem_strndup(path, n ? n : 1);
	struct stat st;

	if (f->n_dirs == DETECT_DIRS_MAX || stat(dir, &st) < 0)
		return false;
	f->dirs[f->n_dirs++] = (struct detect_dir){st.st_uid, st.st_mode};
	return true;
}

/*
 * If the component behind the first n bytes of *path is a link, what it leads to takes its place:
 * 1; 0 it is none; -1.
 */
static int follow(char **path, size_t *n)
{
	const char *rest = *path + *n + 1 + strcspn(*path + *n + 1, "/");
	auto_free char *link = mem_strndup(*path, (size_t)(rest - *path));
	char target[PATH_MAX];

	ssize_t len = readlink(link, target, sizeof(target));
	if (len < 0)
		return errno == EINVAL ? 0 : -1;
	if ((size_t)len == sizeof(target))
		return -1;
	size_t kept = target[0] == '/' ? 0 : *n + 1;
	char *next = mem_printf("%.*s%.*s%s", (int)kept, *path, (int)len, target, rest);
	free(*path);
	*path = next;
	*n = target[0] == '/' ? 0 : *n;
	return 1;
}

/*
 * Owner and mode of every directory on the way to a file, from `/` down, also on that of each link
 * which the way goes through: who can replace one of them chooses the program.
 */
static bool gather_dirs(struct detect_file *f, const char *path)
{
	auto_free char *way = mem_strdup(path);
	unsigned links = 0;
	size_t n = 0; /* of what is no link any more */

	while (way[n] == '/') {
		int r = gather_dir(f, way, n) ? follow(&way, &n) : -1;
		if (r < 0 || (r > 0 && ++links > LINKS_MAX))
			return false;
		n += r == 0 ? 1 + strcspn(way + n + 1, "/") : 0;
	}
	return n > 0;
}

/*
 * Looks at what an absolute path leads to. The resolved path is kept: none of its components is a
 * link, so that a link that changes later changes nothing.
 */
static bool look_at(const char *path, struct detect_file *ret)
{
	AUTO(detect_file) f = {.path = file_resolve(path)};
	struct stat st;

	if (!f.path || stat(f.path, &st) < 0 || !gather_dirs(&f, path))
		return false;
	f.owner_uid = st.st_uid;
	f.mode = st.st_mode;
	f.regular = S_ISREG(st.st_mode);
	f.executable = faccessat(AT_FDCWD, f.path, X_OK, AT_EACCESS) == 0;
	*ret = f;
	f.path = NULL;
	return true;
}

/* As execvp would: the first program; what is no program is taken only when there is none. */
static bool find_on_path(const char *name, struct detect_file *ret)
{
	auto_free char *path = environment_path(env_get("PATH"));
	struct text rest = text_of(path), dir;
	AUTO(detect_file) second_best = {0};

	while (text_split(&rest, ':', &dir)) {
		auto_free char *file = mem_printf("%.*s/%s", (int)dir.len, dir.p, name);
		AUTO(detect_file) f = {0};
		if (!look_at(file, &f))
			continue;
		struct detect_file *to = f.regular && f.executable ? ret : &second_best;
		if (!to->path) {
			*to = f;
			f.path = NULL;
		}
		if (to == ret)
			return true;
	}
	if (!second_best.path)
		return false;
	*ret = second_best;
	second_best.path = NULL;
	return true;
}

static bool find(void *data, const char *key, struct detect_file *ret)
{
	(void)data;
	return key[0] == '/' ? look_at(key, ret) : find_on_path(key, ret);
}

/* A short question to a client: PATH WORDS…, trimmed answer in ret. Its failure is an error. */
struct question {
	enum engine engine;
	const char *path;
	const char *words[4];
	const struct strv *env; /* beside the client's own (§4.3) */
};

static int fail(const struct question *q, const struct captured *answer, struct error *err)
{
	AUTO(str) words = STR_INIT(FAILURE_QUOTE_BYTES_MAX * 4);

	if (answer->timed_out)
		return error_set(err, ERROR_ENGINE_TIMEOUT, "%s %s did not answer within %d s",
			q->path, q->words[0], DETECT_TIMEOUT_MS / 1000);
	failure_quote(&words, &answer->err, &answer->out);
	return error_set(err, ERROR_ENGINE_FAILED, "%s %s failed: %s", q->path, q->words[0],
		str_text(&words));
}

static int ask(const struct question *q, struct str *ret, struct error *err)
{
	AUTO(strv) argv = STRV_INIT(ARRAY_SIZE(q->words) + 1);
	AUTO(strv) env = STRV_INIT(CLIENT_VARIABLES_MAX);
	AUTO(captured) answer = {.status = 0};
	const struct capture how = {.stdout_max = OUTPUT_BYTES_MAX,
		.stderr_max = OUTPUT_BYTES_MAX,
		.timeout_ms = DETECT_TIMEOUT_MS,
		.cancel_fd = -1};

	strv_add(&argv, engine_text(q->engine));
	for (size_t i = 0; i < ARRAY_SIZE(q->words) && q->words[i]; i++)
		strv_add(&argv, q->words[i]);
	environment_client(q->engine, environ, NULL, NULL, &env);
	if (q->env)
		strv_add_all(&env, q->env);
	const struct spawn s = {.path = q->path, .argv = argv.v, .env = env.v, .new_session = true};
	if (spawn_capture(&s, &how, &answer, err) < 0)
		return -1;
	if (answer.timed_out || !WIFEXITED(answer.status) || WEXITSTATUS(answer.status) != 0)
		return fail(q, &answer, err);
	struct text out = text_trim((struct text){str_text(&answer.out), answer.out.len});
	str_add(ret, out.p, out.len);
	return 0;
}

/* data: cloop's home, or NULL. The answer holds as long as the program is the same file. */
static int version(
	void *data, enum engine engine, const char *path, struct str *ret, struct error *err)
{
	const struct question q = {.engine = engine, .path = path, .words = {"--version"}};
	const char *home = data;
	AUTO(strv) files = STRV_INIT(1);

	auto_json *known = remember_get(home, "version", text_of(path));
	if (json_is_string(known))
		return str_add_text(ret, json_string_value(known));
	strv_add(&files, path);
	auto_json *stamps = remember_stamps(&files);
	int r = ask(&q, ret, err);
	if (r < 0 && error_is(err, ERROR_ENGINE_FAILED))
		err->code = ERROR_RUNTIME_UNSUPPORTED;
	if (r == 0) {
		auto_json *answer = json_from_string(str_text(ret));
		remember_put(home, "version", text_of(path), stamps, answer);
	}
	return r;
}

int runtime_detect(const char *configured, const char *home, struct runtime *ret, struct error *err)
{
	auto_free char *data = home ? mem_strdup(home) : NULL;
	const struct detect_probe probe = {find, version, data};

	return detect_decide(configured, geteuid(), &probe, ret, err);
}

/* Without a configuration of its own docker talks to the socket of the system. */
static bool has_default_context(void)
{
	const char *config = env_get("DOCKER_CONFIG"), *home = env_get("HOME");
	auto_free char *file = config ? mem_printf("%s/config.json", config)
				      : mem_printf("%s/.docker/config.json", home ? home : "");

	return !env_get("DOCKER_CONTEXT") && access(file, F_OK) < 0 && errno == ENOENT;
}

/*
 * The user's context is what is asked for, so this one call sees the user's own configuration of
 * docker instead of the private one.
 */
static int context_endpoint(const struct runtime *r, struct str *ret, struct error *err)
{
	static const char *const names[] = {"DOCKER_CONFIG", "DOCKER_CONTEXT"};
	AUTO(strv) env = STRV_INIT(ARRAY_SIZE(names));
	const struct question q = {.engine = ENGINE_DOCKER,
		.path = r->path,
		.words = {"context", "inspect", "--format={{.Endpoints.docker.Host}}"},
		.env = &env};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (env_get(names[i]))
			strv_addf(&env, "%s=%s", names[i], env_get(names[i]));
	return ask(&q, ret, err);
}

int runtime_resolve_endpoint(struct runtime *runtime, struct error *err)
{
	AUTO(str) endpoint = STR_INIT(OUTPUT_BYTES_MAX);
	const char *host = env_get("DOCKER_HOST");

	if (runtime->engine != ENGINE_DOCKER || runtime->endpoint)
		return 0;
	if (host)
		str_add_text(&endpoint, host);
	else if (has_default_context())
		str_add_text(&endpoint, "unix:///var/run/docker.sock");
	else if (context_endpoint(runtime, &endpoint, err) < 0)
		return -1;
	if (detect_check_endpoint(text_of(str_text(&endpoint)), err) < 0)
		return -1;
	runtime->endpoint = str_take(&endpoint);
	return 0;
}
