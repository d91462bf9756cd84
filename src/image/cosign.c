#include "image/cosign.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/num.h"
#include "sys/clock.h"
#include "sys/env.h"
#include "sys/file.h"

enum { VERSION_MS = 5000, PATH_BYTES_MAX = 128 << 10 };

void cosign_done(struct cosign *c)
{
	free(TAKE_PTR(c->program));
	strv_done(&c->env);
	cosign_logins_done(&c->logins);
}

/* ---- Where it is ---- */

/* The components of PATH that do not depend on where we are. */
static void absolute_path(struct str *out)
{
	struct text rest = text_of(env_get("PATH")), part;

	while (text_split(&rest, ':', &part)) {
		if (!text_starts(part, "/"))
			continue;
		if (out->len)
			str_add_char(out, ':');
		str_add(out, part.p, part.len);
	}
}

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	       faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0;
}

/* Caller frees; NULL = it is not installed. */
static char *find(const char *path)
{
	struct text rest = text_of(path), part;

	while (text_split(&rest, ':', &part)) {
		auto_free char *file = mem_printf("%.*s/cosign", (int)part.len, part.p);
		if (part.len && is_program(file))
			return TAKE_PTR(file);
	}
	return NULL;
}

/* ---- What it gets ---- */

static void pass_on(struct strv *env, const char *name)
{
	const char *value = env_get(name);

	if (value)
		strv_addf(env, "%s=%s", name, value);
}

/* COSIGN_* of whoever calls would change what is verified. */
static void make_env(const char *path, const char *home, const char *logins, struct strv *env)
{
	static const char *const passed[] = {
		"HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"};

	strv_addf(env, "PATH=%s", path);
	strv_add(env, "LANG=C");
	strv_addf(env, "HOME=%s", home);
	strv_addf(env, "DOCKER_CONFIG=%s", logins);
	for (size_t i = 0; i < ARRAY_SIZE(passed); i++)
		pass_on(env, passed[i]);
	for (char **entry = environ; entry && *entry; entry++)
		if (strncmp(*entry, "SIGSTORE_", strlen("SIGSTORE_")) == 0)
			strv_add(env, *entry);
}

static int make_home(const char *path, struct error *err)
{
	if (file_make_dirs(path, 0700, err) < 0)
		return -1;
	auto_fd int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 || fchmod(fd, 0700) < 0)
		return error_set_errno(
			err, ERROR_IO, errno, "cannot set up %s", quoted_string(path));
	return 0;
}

int cosign_open(const struct cosign_setup *s, struct cosign *ret, struct error *err)
{
	AUTO(cosign) c = COSIGN_INIT;
	AUTO(str) path = STR_INIT(PATH_BYTES_MAX);
	auto_free char *home = mem_printf("%s/cosign", s->home);

	absolute_path(&path);
	c.program = find(str_text(&path));
	if (!c.program)
		return COSIGN_MISSING;
	if (make_home(home, err) < 0 || cosign_logins_make(s->image, &c.logins, err) < 0)
		return -1;
	make_env(str_text(&path), home, c.logins.path, &c.env);
	c.deadline_ms = s->deadline_ms;
	c.cancel_fd = s->cancel_fd;
	*ret = c;
	c = COSIGN_INIT;
	return 0;
}

/* ---- What it says ---- */

void cosign_last_line(struct text output, char line[COSIGN_LINE_MAX + 1])
{
	AUTO(str) shown = STR_INIT(8 * COSIGN_LINE_MAX);
	struct text rest = output, part, last = {"", 0};

	while (text_split(&rest, '\n', &part))
		if (!text_blank(part))
			last = text_trim(part);
	text_escape(&shown, last, COSIGN_LINE_MAX);
	size_t n = utf8_cut((struct text){str_text(&shown), shown.len}, COSIGN_LINE_MAX);
	memcpy(line, str_text(&shown), n);
	line[n] = '\0';
}

/* What cannot be started has failed with these words. */
static enum cosign_end run(
	const struct cosign *c, const struct strv *argv, int64_t deadline_ms, struct str *output)
{
	auto_error struct error why = ERROR_INIT;
	enum cosign_end end = COSIGN_FAILED;
	struct cosign_process p = {
		.program = c->program,
		.env = &c->env,
		.deadline_ms = deadline_ms,
		.cancel_fd = c->cancel_fd,
	};

	if (cosign_process_run(&p, argv, &end, output, &why) < 0) {
		str_reset(output);
		str_add_text(output, why.message);
		return COSIGN_FAILED;
	}
	return end;
}

enum cosign_end cosign_call(
	const struct cosign *c, const struct strv *argv, char line[COSIGN_LINE_MAX + 1])
{
	AUTO(str) output = STR_INIT(COSIGN_OUTPUT_MAX);
	enum cosign_end end = run(c, argv, c->deadline_ms, &output);

	cosign_last_line((struct text){str_text(&output), output.len}, line);
	return end;
}

/* ---- Its version ---- */

void cosign_version_of(struct text output, char ret[COSIGN_VERSION_MAX])
{
	static const char label[] = "GitVersion:";
	struct text rest = output, line;

	ret[0] = '\0';
	while (text_split(&rest, '\n', &line)) {
		if (!text_starts(line, label))
			continue;
		struct text version = text_trim(text_after(line, strlen(label)));
		if (text_starts(version, "v") && version.len < COSIGN_VERSION_MAX &&
			text_all_word(version, ".-+")) {
			memcpy(ret, version.p, version.len);
			ret[version.len] = '\0';
		}
		return;
	}
}

void cosign_version(const struct cosign *c, char ret[COSIGN_VERSION_MAX])
{
	AUTO(str) output = STR_INIT(COSIGN_OUTPUT_MAX);
	AUTO(strv) argv = STRV_INIT(2);
	int64_t soon = clock_boottime_ms() + VERSION_MS;

	strv_add(&argv, "cosign");
	strv_add(&argv, "version");
	ret[0] = '\0';
	if (run(c, &argv, soon < c->deadline_ms ? soon : c->deadline_ms, &output) ==
		COSIGN_SUCCEEDED)
		cosign_version_of((struct text){str_text(&output), output.len}, ret);
}

bool cosign_version_is_old(const char *version)
{
	struct text rest = text_of(version), major;
	uint64_t n;

	return text_starts(rest, "v") && text_split(&rest, '.', &major) &&
	       num_parse(text_after(major, 1), UINT32_MAX, &n) == NUM_OK && n < 3;
}
