#include "executor/container/failure.h"

#include "base/mem.h"
#include "image/setup.h"

enum { WORDS_BYTES_MAX = 65536, NEEDLES_MAX = 5 };

/*
 * A row of §10.4 matches when one of `any` is there and, if `with` is given, one of that too. In a
 * needle `?` stands for one word without blanks.
 */
static const struct row {
	const char *any[NEEDLES_MAX];
	const char *with[NEEDLES_MAX];
	enum error_code code;
} rows[] = {
	{{"image not known", "no such image", "unable to find image", "manifest unknown"}, {0},
		ERROR_IMAGE_MISSING},
	{{"cannot connect to the docker daemon", "is the docker daemon running",
		 "cannot connect to podman"},
		{0}, ERROR_ENGINE_UNREACHABLE},
	{{"permission denied while trying to connect"}, {0}, ERROR_ENGINE_PERMISSION},
	{{"dial unix"}, {"permission denied"}, ERROR_ENGINE_PERMISSION},
	{{"already in use"}, {0}, ERROR_NAME_IN_USE},
	{{"exceeded num_locks"}, {0}, ERROR_LOCKS_EXHAUSTED},
	{{"network not found", "network ? not found"}, {0}, ERROR_NETWORK_MISSING},
	{{"unknown runtime specified", "unknown or invalid runtime name",
		 "oci runtime \"?\" not found"},
		{0}, ERROR_OCI_RUNTIME_MISSING},
	{{"setting rlimit", "setrlimit"}, {0}, ERROR_ULIMIT_DENIED},
	{{"bind source path does not exist"}, {0}, ERROR_MOUNT_SOURCE_MISSING},
	{{"statfs "}, {"no such file or directory"}, ERROR_MOUNT_SOURCE_MISSING},
	{{"gathering device information", "stat /dev/?: no such file"}, {0}, ERROR_DEVICE_MISSING},
	{{"/run/cloop/init"},
		{"permission denied", "no such file or directory", "exec format error",
			"operation not permitted"},
		ERROR_GUEST_UNUSABLE},
	{{"no space left on device"}, {0}, ERROR_NO_SPACE},
	{{"no subuid ranges", "no subgid ranges", "newuidmap", "newgidmap",
		 "insufficient uids or gids"},
		{0}, ERROR_SUBID_MISSING},
	{{"minimum memory limit"}, {0}, ERROR_MEMORY_TOO_SMALL},
	{{"cgroup"},
		{"invalid argument", "no such file or directory", "permission denied",
			"device or resource busy", "not delegated"},
		ERROR_CGROUP_UNAVAILABLE},
};

static bool matches_here(struct text t, const char *needle);

static bool matches_word(struct text t, const char *rest)
{
	for (; t.len > 0 && !ascii_blank(t.p[0]); t = text_after(t, 1))
		if (matches_here(text_after(t, 1), rest))
			return true;
	return false;
}

static bool matches_here(struct text t, const char *needle)
{
	for (; *needle; needle++) {
		if (*needle == '?')
			return matches_word(t, needle + 1);
		if (t.len == 0 || ascii_to_lower(t.p[0]) != *needle)
			return false;
		t = text_after(t, 1);
	}
	return true;
}

static bool has(struct text t, const char *needle)
{
	for (;; t = text_after(t, 1)) {
		if (matches_here(t, needle))
			return true;
		if (t.len == 0)
			return false;
	}
}

static bool has_one(struct text t, const char *const needles[NEEDLES_MAX])
{
	for (size_t i = 0; i < NEEDLES_MAX && needles[i]; i++)
		if (has(t, needles[i]))
			return true;
	return false;
}

enum error_code failure_code(struct text words)
{
	if (words.len > WORDS_BYTES_MAX)
		words.len = WORDS_BYTES_MAX;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (has_one(words, rows[i].any) &&
			(!rows[i].with[0] || has_one(words, rows[i].with)))
			return rows[i].code;
	return ERROR_ENGINE_FAILED;
}

/* podman 4.3 says it on top of whatever else it has to say, rootless on cgroup v1. */
#define LIMITS_REMARK "Resource limits are not supported and ignored on cgroups V1"

/* A line of podman's log that is no error: what failed stands behind it. */
static bool is_log_line(struct text line)
{
	static const char *const levels[] = {" level=warning ", " level=info ", " level=debug "};

	for (size_t i = 0; text_starts(line, "time=\"") && i < ARRAY_SIZE(levels); i++)
		if (text_has(line, levels[i]))
			return true;
	return false;
}

static struct text first_line(const struct str *s)
{
	struct text rest = {str_text(s), s->len}, line, remark = {"", 0};

	while (text_split(&rest, '\n', &line)) {
		line = text_trim(line);
		if (text_starts(line, LIMITS_REMARK) || is_log_line(line))
			remark = line;
		else if (!text_blank(line))
			return line;
	}
	return remark;
}

void failure_quote(struct str *ret, const struct str *err, const struct str *out)
{
	struct text line = first_line(err);

	if (line.len == 0)
		line = first_line(out);
	text_escape(ret, line, FAILURE_QUOTE_BYTES_MAX);
}

/* Remedies that know more than the code's default. */
static void set_remedy(const struct failure *f, struct text words, struct error *err)
{
	const char *engine = engine_text(f->engine);
	const char *runc_hint = "drop all controllers";

	if (has(words, runc_hint))
		error_set_remedy(err,
			"crun cannot work with this host's hybrid control groups: install runc and "
			"set oci_runtime: runc");
	else if (err->code == ERROR_IMAGE_MISSING && text_starts(f->image, SETUP_NAME ":"))
		error_set_remedy(err,
			"somebody removed the image that was built for setup: run again, and it is "
			"built anew");
	else if (err->code == ERROR_IMAGE_MISSING && f->image.len)
		error_set_remedy(err, "%s pull %.*s", engine, (int)f->image.len, f->image.p);
	else if (err->code == ERROR_ENGINE_UNREACHABLE && f->engine == ENGINE_PODMAN)
		error_set_remedy(err, "podman has no daemon to start: podman info shows why");
	else if (err->code == ERROR_ENGINE_UNREACHABLE)
		error_set_remedy(err, "start %s: systemctl start %s", engine, engine);
}

/* The remark speaks of control groups, whatever the failure is about. */
static void without_remark(const struct str *err, struct str *ret)
{
	struct text rest = {str_text(err), err->len}, line;

	while (text_split(&rest, '\n', &line)) {
		if (text_starts(text_trim(line), LIMITS_REMARK))
			continue;
		str_add(ret, line.p, line.len);
		str_add_text(ret, "\n");
	}
}

int failure_explain(const struct failure *f, struct error *err)
{
	AUTO(str) quote = STR_INIT(4 * FAILURE_QUOTE_BYTES_MAX);
	AUTO(str) said = STR_INIT(f->err->len + 2);

	without_remark(f->err, &said);
	struct text words = {str_text(&said), said.len};
	failure_quote(&quote, f->err, f->out);
	error_set(err, failure_code(words), "%s %.*s failed: %s", engine_text(f->engine),
		(int)f->call.len, f->call.p, quote.len ? str_text(&quote) : "it said nothing");
	set_remedy(f, words, err);
	return -1;
}
