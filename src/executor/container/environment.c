#include "executor/container/environment.h"

#include <string.h>

#include "base/enum-text.h"
#include "executor/container/validate.h"

enum {
	ENTRY_BYTES_MAX = 131072,     /* NAME=VALUE with its NUL */
	FILE_VALUE_BYTES_MAX = 32768, /* of a variable in the env file */
};

/*
 * Names that change what an engine's client (a Go or C program of the host) does. In the client's
 * environment LD_PRELOAD=/workspace/x.so would run project code on the host (§8.4).
 */
static const char *const sensitive_names[] = {"BASHOPTS", "BASH_ENV", "CDPATH",
	"DBUS_SESSION_BUS_ADDRESS", "ENV", "GCONV_PATH", "GETCONF_DIR", "GLIBC_TUNABLES",
	"GLOBIGNORE", "HOME", "HOSTALIASES", "IFS", "INVOCATION_ID", "JOURNAL_STREAM", "LANG",
	"LANGUAGE", "LISTEN_FDNAMES", "LISTEN_FDS", "LISTEN_PID", "LOCALDOMAIN", "LOCPATH",
	"LOGNAME", "MAINPID", "NIS_PATH", "NLSPATH", "NOTIFY_SOCKET", "OLDPWD", "PATH", "PS4",
	"PWD", "REGISTRY_AUTH_FILE", "RESOLV_HOST_CONF", "RES_OPTIONS", "SHELL", "SHELLOPTS",
	"SSH_AUTH_SOCK", "TEMP", "TERMCAP", "TERMINFO", "TMP", "TMPDIR", "TZ", "TZDIR", "USER"};

static const char *const sensitive_prefixes[] = {"LD_", "DOCKER_", "CONTAINER_", "CONTAINERS_",
	"_CONTAINERS_", "PODMAN_", "_PODMAN_", "XDG_", "SSL_CERT_", "GO", "BUILDAH_", "_BUILDAH_",
	"BUILDKIT_", "STORAGE_", "CONMON_", "NETAVARK_", "CNI_", "OTEL_", "MALLOC_", "LC_",
	"CATATONIT_", "TINI_", "_OCI_", "SYSTEMD_"};

static const char *const client_names[] = {"HOME", "USER", "LOGNAME"};
static const char *const podman_names[] = {"XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
	"DBUS_SESSION_BUS_ADDRESS", "TMPDIR", "CONTAINERS_CONF", "CONTAINERS_CONF_OVERRIDE",
	"CONTAINERS_STORAGE_CONF", "CONTAINERS_REGISTRIES_CONF", "STORAGE_DRIVER", "STORAGE_OPTS"};

#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static bool client_sensitive(struct text name)
{
	if (text_ends_nocase(name, "_PROXY"))
		return true;
	if (enum_from_text(sensitive_names, ARRAY_SIZE(sensitive_names), name) >= 0)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(sensitive_prefixes); i++)
		if (text_starts(name, sensitive_prefixes[i]))
			return true;
	return false;
}

static int check_file_value(struct text name, struct text value, struct error *err)
{
	if (text_has_byte(value, '\n') || text_has_byte(value, '\r'))
		return error_set(err, ERROR_ENV_RESERVED_MULTILINE,
			"the value of variable %s has more than one line, and this name has to go "
			"through the env file",
			quoted(name));
	if (value.len > FILE_VALUE_BYTES_MAX)
		return error_set(err, ERROR_ENV_VALUE_TOO_LARGE,
			"the value of variable %s is larger than %d bytes, the most that an env "
			"file takes",
			quoted(name), FILE_VALUE_BYTES_MAX);
	if (!utf8_valid(value))
		return error_set(err, ERROR_ENV_RESERVED_ENCODING,
			"the value of variable %s is not UTF-8, and this name has to go through "
			"the env file",
			quoted(name));
	return 0;
}

static int check_value(struct text name, struct text value, struct error *err)
{
	if (text_has_byte(value, '\0'))
		return error_set(err, ERROR_ENV_VALUE_NUL,
			"the value of variable %s holds a NUL byte", quoted(name));
	if (name.len + 1 + value.len + 1 > ENTRY_BYTES_MAX)
		return error_set(err, ERROR_ENV_VALUE_TOO_LARGE,
			"variable %s with its value is larger than %d bytes", quoted(name),
			ENTRY_BYTES_MAX);
	return 0;
}

int environment_route(
	struct text name, struct text value, enum environment_route *ret, struct error *err)
{
	if (validate_env_name(name, err) < 0 || check_value(name, value, err) < 0)
		return -1;
	if (!client_sensitive(name)) {
		*ret = ENVIRONMENT_NAME;
		return 0;
	}
	if (check_file_value(name, value, err) < 0)
		return -1;
	*ret = ENVIRONMENT_FILE;
	return 0;
}

void environment_plan_done(struct environment_plan *p)
{
	strv_foreach (entry, &p->entries)
		explicit_bzero(*entry, strlen(*entry));
	strv_done(&p->entries);
	if (p->file.data)
		explicit_bzero(p->file.data, p->file.cap);
	str_done(&p->file);
}

/* The part before the first `=`; the whole entry when there is none. */
static struct text entry_name(struct text entry)
{
	const char *equals = entry.len ? memchr(entry.p, '=', entry.len) : NULL;

	return equals ? (struct text){entry.p, (size_t)(equals - entry.p)} : entry;
}

static int judge_names(const struct text *entries, size_t n, struct error *err)
{
	for (size_t i = 0; i < n; i++) {
		if (!text_has_byte(entries[i], '='))
			return error_set(err, ERROR_ENV_ENTRY_INVALID,
				"entry %zu of the environment has no `=`", i + 1);
		if (validate_env_name(entry_name(entries[i]), err) < 0)
			return error_prefix(err, "entry %zu of the environment", i + 1);
	}
	return 0;
}

/* The entries that count: each name at its first place, with its last value. */
static int last_values(
	const struct text *entries, size_t n, struct text *last, size_t *ret_n, struct error *err)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		size_t at = 0;
		while (at < count && !text_equal(entry_name(last[at]), entry_name(entries[i])))
			at++;
		if (at == ENVIRONMENT_NAMES_MAX)
			return error_set(err, ERROR_ENV_TOO_MANY,
				"the environment has more than %d variables",
				ENVIRONMENT_NAMES_MAX);
		if (at == count)
			count++;
		last[at] = entries[i];
	}
	*ret_n = count;
	return 0;
}

int environment_entries(const struct text *entries, size_t n, struct strv *ret, struct error *err)
{
	struct text last[ENVIRONMENT_NAMES_MAX];
	size_t count = 0;

	if (judge_names(entries, n, err) < 0 || last_values(entries, n, last, &count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		struct text name = entry_name(last[i]);
		if (check_value(name, text_after(last[i], name.len + 1), err) < 0)
			return -1;
	}
	for (size_t i = 0; i < count; i++)
		if (strv_add_n(ret, last[i].p, last[i].len) < 0)
			return error_set(err, ERROR_ENV_TOO_MANY, "too many variables");
	return 0;
}

static void add_to_file(struct str *file, struct text entry)
{
	str_add(file, entry.p, entry.len);
	str_add_char(file, '\n');
}

int environment_plan(
	const struct text *entries, size_t n, struct environment_plan *ret, struct error *err)
{
	struct text last[ENVIRONMENT_NAMES_MAX];
	AUTO(environment_plan) plan = {.has_home = false};
	size_t count = 0;

	plan.entries = STRV_INIT(ENVIRONMENT_NAMES_MAX);
	plan.file = STR_INIT((size_t)ENVIRONMENT_NAMES_MAX * ENTRY_BYTES_MAX);
	if (judge_names(entries, n, err) < 0 || last_values(entries, n, last, &count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		struct text name = entry_name(last[i]);
		enum environment_route route = ENVIRONMENT_NAME;
		if (environment_route(name, text_after(last[i], name.len + 1), &route, err) < 0)
			return -1;
		plan.in_file[i] = route == ENVIRONMENT_FILE;
		plan.has_home = plan.has_home || text_is(name, "HOME");
		strv_add_n(&plan.entries, last[i].p, last[i].len);
		if (plan.in_file[i])
			add_to_file(&plan.file, last[i]);
	}
	*ret = plan;
	plan = (struct environment_plan){0};
	return 0;
}

int environment_plan_add_client(const struct environment_plan *p,
	int (*add)(struct strv *env, const char *entry), struct strv *env)
{
	int r = 0;

	for (size_t i = 0; i < p->entries.n; i++)
		if (!p->in_file[i])
			r |= add(env, p->entries.v[i]);
	return r;
}

/* The entry was met before in the first `n` bytes of `path`. */
static bool path_has(struct text path, struct text entry)
{
	struct text part;

	while (path.len && text_split(&path, ':', &part))
		if (text_equal(part, entry))
			return true;
	return false;
}

char *environment_path(const char *own)
{
	struct text rest = text_of(own), part;
	AUTO(str) out = STR_INIT(rest.len + sizeof(DEFAULT_PATH));

	while (text_split(&rest, ':', &part)) {
		if (!text_starts(part, "/") ||
			path_has((struct text){str_text(&out), out.len}, part))
			continue;
		if (out.len)
			str_add_char(&out, ':');
		str_add(&out, part.p, part.len);
	}
	if (!out.len)
		str_add_text(&out, DEFAULT_PATH);
	return str_take(&out);
}

static const char *own_value(char *const *own, const char *name)
{
	size_t n = strlen(name);

	for (; *own; own++)
		if (strncmp(*own, name, n) == 0 && (*own)[n] == '=')
			return *own + n + 1;
	return NULL;
}

static void add_variable(struct strv *env, const char *name, const char *value)
{
	if (value && *value)
		strv_addf(env, "%s=%s", name, value);
}

void environment_client(enum engine engine, char *const *own, const char *docker_host,
	const char *docker_config, struct strv *ret)
{
	auto_free char *path = environment_path(own_value(own, "PATH"));

	add_variable(ret, "PATH", path);
	add_variable(ret, "LC_ALL", "C.UTF-8");
	for (size_t i = 0; i < ARRAY_SIZE(client_names); i++)
		add_variable(ret, client_names[i], own_value(own, client_names[i]));
	if (engine == ENGINE_DOCKER) {
		add_variable(ret, "DOCKER_HOST", docker_host);
		add_variable(ret, "DOCKER_CONFIG", docker_config);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(podman_names); i++)
		add_variable(ret, podman_names[i], own_value(own, podman_names[i]));
}
