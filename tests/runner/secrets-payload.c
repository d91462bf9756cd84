/* The kinds of area secrets that deliver something (disk-and-secrets.md §16). */
#include "runner/case.h"

#include "base/json-secret.h"
#include "base/mem.h"
#include "base/str.h"
#include "vault/device-node.h"
#include "vault/device-payload.h"
#include "vault/env-payload.h"
#include "vault/interface-payload.h"
#include "vault/kubeconfig.h"
#include "vault/local-repo.h"
#include "vault/registry-payload.h"
#include "vault/secret-file.h"
#include "vault/variable-name.h"

enum { LIST_MAX = 4096, PARTS_MAX = 1 << 20 };

/* The code, and those of its details that the kind's cases have. */
static json_t *error_json(const struct error *err, const char *const *details)
{
	json_t *got = json_pack("{s:s}", "error", error_code_text(err->code));

	for (; details && *details; details++)
		json_object_set(got, *details, json_object_get(err->details, *details));
	return got;
}

static const char *const line_details[] = {"line", "reason", NULL};
static const char *const reason_details[] = {"reason", NULL};

static void read_strings(json_t *array, struct strv *ret)
{
	json_t *item;
	size_t i;

	*ret = STRV_INIT(LIST_MAX);
	json_array_foreach(array, i, item) strv_add(ret, json_string_value(item));
}

/* ---- Devices and interfaces ---- */

static void run_device_payload(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(device_payload) p = {.v = NULL};

	if (device_payload_read(json_get_text(c, "payload"), &p, &err) < 0) {
		case_exact(r, c, error_json(&err, line_details));
		return;
	}
	json_t *entries = json_array();
	for (size_t i = 0; i < p.n; i++)
		json_array_append_new(
			entries, json_pack("{s:s, s:s, s:s, s:s}", "name", p.v[i].name, "source",
					 p.v[i].source, "target", p.v[i].target, "permissions",
					 p.v[i].mode));
	case_exact(r, c, json_pack("{s:b, s:o}", "ok", 1, "entries", entries));
}

static void run_interface_payload(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(interface_payload) p = {.v = NULL};

	if (interface_payload_read(json_get_text(c, "payload"), &p, &err) < 0) {
		case_exact(r, c, error_json(&err, line_details));
		return;
	}
	json_t *entries = json_array();
	for (size_t i = 0; i < p.n; i++) {
		const struct interface_entry *e = &p.v[i];
		json_array_append_new(
			entries, json_pack("{s:s, s:s, s:s, s:s, s:s, s:I}", "name", e->name,
					 "source", e->source, "target", e->target, "address",
					 e->address ? e->address : "", "gateway",
					 e->gateway ? e->gateway : "", "mtu", (json_int_t)e->mtu));
	}
	case_exact(r, c, json_pack("{s:b, s:o}", "ok", 1, "entries", entries));
}

static void run_device_node(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	json_t *given = json_object_get(c, "node");
	struct text type = json_get_text(given, "type");
	struct text subsystem = json_get_text(given, "subsystem");
	struct device_node n = {
		.type = text_is(type, "char")    ? DEVICE_CHAR
			: text_is(type, "block") ? DEVICE_BLOCK
						 : DEVICE_OTHER,
		.major = (unsigned)json_get_int(given, "major", 0),
		.minor = (unsigned)json_get_int(given, "minor", 0),
		.in_use = json_get_bool(given, "in_use", false),
	};

	if (subsystem.len < sizeof(n.subsystem))
		memcpy(n.subsystem, subsystem.p ? subsystem.p : "", subsystem.len);
	bool good = device_node_judge(
			    &n, json_get_bool(given, "grant_block", false), "node", &err) == 0;
	case_exact(r, c, json_string(good ? "ok" : error_code_text(err.code)));
}

/* ---- Variables ---- */

/* The payload, or its parts one after the other; caller frees p. */
static struct text join_payload(json_t *c)
{
	struct text whole = json_get_text(c, "payload");
	AUTO(str) out = STR_INIT(PARTS_MAX);
	json_t *part;
	size_t i;

	if (whole.p)
		return (struct text){mem_strndup(whole.p, whole.len), whole.len};
	json_array_foreach(json_object_get(c, "payload_parts"), i, part)
	{
		struct text repeat = json_get_text(part, "repeat");
		for (int64_t n = json_get_int(part, "times", 1); n > 0; n--)
			str_add(&out, repeat.p, repeat.len);
	}
	size_t n = out.len;
	return (struct text){str_take(&out), n};
}

static json_t *env_json(const struct env_payload *p, bool lengths)
{
	json_t *all = json_object();

	for (size_t i = 0; i < p->n; i++) {
		const struct secret *value = &p->v[i].value;
		json_object_set_new(all, p->v[i].name,
			lengths ? json_integer((json_int_t)value->len)
				: json_stringn(value->p, value->len));
	}
	return json_pack("{s:o}", lengths ? "env_lengths" : "env", all);
}

static void run_env_payload(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(env_payload) p = {.v = NULL};
	struct text payload = join_payload(c), format = json_get_text(c, "format");
	int known = format.p ? env_format_from_text(format) : ENV_FORMAT_AUTO;
	struct env_payload_options o = {.secret = json_get_text(c, "secret"),
		.env_name = json_get_text(c, "env"),
		.format = (enum env_format)known};
	bool lengths = json_object_get(json_object_get(c, "expect"), "env_lengths") != NULL;

	if (known < 0)
		case_exact(r, c, json_string("unknown format"));
	else if (env_payload_read(&o, payload, &p, &err) < 0)
		case_exact(r, c, error_json(&err, reason_details));
	else
		case_exact(r, c, env_json(&p, lengths));
	free((char *)(uintptr_t)payload.p);
}

/* ---- Repositories ---- */

static void run_local_repo(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(strv) patterns = STRV_INIT(0);
	AUTO(strv) repos = STRV_INIT(0);
	json_t *list = json_object_get(c, "candidates");
	size_t n = json_array_size(list);
	auto_free struct local_repo_candidate *given = mem_alloc((n + 1) * sizeof(*given));

	read_strings(json_object_get(c, "patterns"), &patterns);
	for (size_t i = 0; i < n; i++) {
		json_t *one = json_array_get(list, i);
		given[i] = (struct local_repo_candidate){.name = json_get_text(one, "name"),
			.link = json_get_text(one, "link"),
			.is_dir = json_get_bool(one, "dir", true),
			.is_git = json_get_bool(one, "git", true)};
	}
	struct local_repo_root root = {json_get_text(c, "root"), &patterns};
	if (local_repo_select(&root, given, n, &repos, &err) < 0)
		case_exact(r, c, error_json(&err, NULL));
	else
		case_exact(r, c, json_pack("{s:o}", "repos", json_from_strings(repos.v, repos.n)));
}

static void run_local_repo_env(json_t *c, struct case_result *r)
{
	AUTO(strv) repos = STRV_INIT(0);
	json_t *env = json_object();

	read_strings(json_object_get(c, "repos"), &repos);
	strv_foreach (repo, &repos) {
		auto_free char *name = variable_name_of(LOCAL_REPO_VARIABLE, text_of(*repo));
		auto_free char *path = mem_printf("%s/%s", LOCAL_REPO_ROOT, *repo);
		if (!variable_name_ambiguous(&repos, *repo))
			json_object_set_new(env, name, json_string(path));
	}
	case_exact(r, c, env);
}

/* ---- Logins ---- */

static void run_registry(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(strv) registries = STRV_INIT(0);
	AUTO(strv) keys = STRV_INIT(LIST_MAX);
	AUTO(secret) config = {.p = NULL};
	const char *key;
	json_t *value;

	read_strings(json_object_get(c, "registries"), &registries);
	if (registry_payload_config(json_get_text(c, "payload"), &registries, &config, &err) < 0) {
		case_exact(r, c, error_json(&err, NULL));
		return;
	}
	auto_json *read =
		json_read(secret_text(&config), config.len, "config", ERROR_INTERNAL, &err);
	json_object_foreach(json_object_get(read, "auths"), key, value) strv_add(&keys, key);
	strv_sort(&keys);
	if (json_object_get(json_object_get(c, "expect"), "auths"))
		case_exact(r, c, json_incref(read));
	else
		case_exact(r, c, json_pack("{s:o}", "keys", json_from_strings(keys.v, keys.n)));
}

/* Of our own: {"config"} is the whole file. */
static void run_kubeconfig(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(strv) contexts = STRV_INIT(0);
	AUTO(strv) namespaces = STRV_INIT(0);
	AUTO(secret) config = {.p = NULL};
	struct text payload = json_get_text(c, "payload");

	read_strings(json_object_get(c, "contexts"), &contexts);
	read_strings(json_object_get(c, "namespaces"), &namespaces);
	if (kubeconfig_select(payload, &contexts, &namespaces, &config, &err) < 0) {
		case_exact(r, c, error_json(&err, line_details));
		return;
	}
	case_exact(r, c,
		json_pack("{s:o}", "config",
			json_read(
				secret_text(&config), config.len, "config", ERROR_INTERNAL, &err)));
}

/* Of our own: the variable of a file, its name and mode. */
static void run_secret_file(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	mode_t mode = 0600;
	struct text name = json_get_text(c, "file_name"), given = json_get_text(c, "mode");

	if (secret_file_name_check(name, &err) < 0 ||
		(given.p && secret_file_mode_parse(given, &mode, &err) < 0)) {
		case_exact(r, c, error_json(&err, NULL));
		return;
	}
	auto_free char *variable =
		variable_name_of(SECRET_FILE_VARIABLE, json_get_text(c, "secret"));
	case_exact(r, c, json_pack("{s:s, s:i}", "variable", variable, "mode", (int)mode));
}

static const char *const payload_fields[] = {"payload", NULL};
static const char *const node_fields[] = {"node", NULL};
static const char *const env_fields[] = {
	"secret", "payload", "payload_parts", "format", "env", NULL};
static const char *const repo_fields[] = {"root", "patterns", "candidates", NULL};
static const char *const repo_env_fields[] = {"repos", NULL};
static const char *const registry_fields[] = {"payload", "registries", NULL};
static const char *const kubeconfig_fields[] = {"payload", "contexts", "namespaces", NULL};
static const char *const file_fields[] = {"secret", "file_name", "mode", NULL};

const struct case_kind case_secrets_payload_kinds[] = {
	{"device_payload", payload_fields, run_device_payload},
	{"device_node", node_fields, run_device_node},
	{"interface_payload", payload_fields, run_interface_payload},
	{"env_payload", env_fields, run_env_payload},
	{"local_repo", repo_fields, run_local_repo},
	{"local_repo_env", repo_env_fields, run_local_repo_env},
	{"registry", registry_fields, run_registry},
	{"kubeconfig", kubeconfig_fields, run_kubeconfig},
	{"secret_file", file_fields, run_secret_file},
	{0},
};
