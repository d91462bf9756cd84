/* sandbox-spec.md §1: parse, load, size, hash, apply, env, status. */
#include "runner/case.h"

#include <time.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/num.h"
#include "image/reference.h"
#include "schema/value.h"
#include "spec/apply.h"
#include "spec/env-filter.h"
#include "spec/spec-hash.h"
#include "spec/spec-json.h"
#include "spec/spec-load.h"
#include "spec/spec.h"
#include "sys/clock.h"
#include "sys/file.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(SANITIZED)
enum { TIME_FACTOR = 5 };
#else
enum { TIME_FACTOR = 1 };
#endif

enum { CASE_BYTES_MAX = 64 << 20, CASE_PATH_MAX = 4096 };

static int check_image(struct text t, struct error *err)
{
	struct image_reference ignored;

	return image_reference_parse(t, &ignored, err);
}

static const struct spec_checks checks = {.image = check_image};

/* ---- Expectations of parse and load ---- */

static const char *expected_field(const char *key)
{
	static const char *const known[] = {"ok", "present", "spec", "requirements", "sha256",
		"setup_sha256", "errors", "exact", "error_count", "warnings", "max_ms"};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (strcmp(known[i], key) == 0)
			return known[i];
	return NULL;
}

static bool same_error(json_t *wanted, json_t *got)
{
	const char *key;
	json_t *value;

	json_object_foreach(wanted, key, value)
	{
		const char *remedy = json_get_string(got, "remediation");
		if (strcmp(key, "remediation_contains") == 0) {
			if (!remedy || !strstr(remedy, json_string_value(value)))
				return false;
		} else if (!json_equal(value, json_object_get(got, key))) {
			return false;
		}
	}
	return true;
}

static bool errors_match(json_t *expect, json_t *got)
{
	json_t *wanted = json_object_get(expect, "errors"),
	       *errors = json_object_get(got, "errors");
	json_t *count = json_object_get(expect, "error_count");
	bool exact = json_is_true(json_object_get(expect, "exact"));
	size_t i, j, n = json_array_size(errors);
	json_t *w;

	if (exact && json_array_size(wanted) != n)
		return false;
	if (count && json_integer_value(count) != (json_int_t)n)
		return false;
	json_array_foreach(wanted, i, w)
	{
		bool found = exact && same_error(w, json_array_get(errors, i));
		for (j = 0; !exact && !found && j < n; j++)
			found = same_error(w, json_array_get(errors, j));
		if (!found)
			return false;
	}
	return true;
}

/* Each wanted (path, code) uses up one of the reported ones. */
static bool warnings_match(json_t *expect, json_t *got)
{
	json_t *wanted = json_object_get(expect, "warnings"), *w;
	auto_json *left = json_copy(json_object_get(got, "warnings"));
	size_t i, j;

	if (!wanted)
		return true;
	json_array_foreach(wanted, i, w)
	{
		size_t n = json_array_size(left);
		for (j = 0; j < n && !same_error(w, json_array_get(left, j)); j++)
			;
		if (j == n)
			return false;
		json_array_remove(left, j);
	}
	return json_array_size(left) == 0;
}

static bool answer_matches(json_t *expect, json_t *got)
{
	static const char *const exact[] = {
		"ok", "present", "requirements", "sha256", "setup_sha256"};
	json_t *spec = json_object_get(expect, "spec"), *value;
	const char *key;

	json_object_foreach(expect, key, value) if (!expected_field(key)) return false;
	for (size_t i = 0; i < ARRAY_SIZE(exact); i++) {
		value = json_object_get(expect, exact[i]);
		if (value && !json_equal(value, json_object_get(got, exact[i])))
			return false;
	}
	if (spec && !case_has_subset(spec, json_object_get(got, "spec")))
		return false;
	return errors_match(expect, got) && warnings_match(expect, got);
}

/* Processor time: what else the machine does must not fail a case. */
static int64_t cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * INT64_C(1000000) + t.tv_nsec / 1000;
}

static void finish_answer(struct case_result *r, json_t *c, json_t *got, int64_t us)
{
	json_t *expect = json_object_get(c, "expect");
	int64_t limit = json_get_int(expect, "max_ms", json_get_int(c, "max_ms", 0));
	const char *forbidden = json_get_string(c, "must_not_output");
	auto_free char *text = json_write(got);

	r->got = got;
	r->ok = answer_matches(expect, got) && !(forbidden && strstr(text, forbidden)) &&
		(limit == 0 || us <= limit * 1000 * TIME_FACTOR);
	json_object_set_new(got, "us", json_integer(us));
}

/* ---- parse ---- */

static void add_text(struct str *out, struct text t)
{
	str_add(out, t.p ? t.p : "", t.len);
}

static void add_part(struct str *out, json_t *part)
{
	if (json_is_string(part)) {
		add_text(out, json_text(part));
		return;
	}
	for (int64_t i = json_get_int(part, "times", 0); i > 0; i--)
		add_text(out, json_get_text(part, "repeat"));
}

static void case_bytes(json_t *c, struct str *out)
{
	struct text encoded = json_get_text(c, "yaml_b64");
	size_t i;
	json_t *part;

	add_text(out, json_get_text(c, "yaml"));
	json_array_foreach(json_object_get(c, "yaml_parts"), i, part) add_part(out, part);
	if (encoded.p) {
		struct text decoded = case_base64(encoded);
		add_text(out, decoded);
		free((char *)(uintptr_t)decoded.p);
	}
}

static void run_parse(json_t *c, struct case_result *r)
{
	AUTO(str) bytes = STR_INIT(CASE_BYTES_MAX);
	AUTO(spec_result) result = {0};

	case_bytes(c, &bytes);
	int64_t start = cpu_us();
	spec_parse((struct text){str_text(&bytes), bytes.len}, &checks, &result);
	int64_t us = cpu_us() - start;
	finish_answer(r, c, spec_json_check(&result), us);
}

/* ---- load ---- */

struct sandbox {
	char project[64];
	char out[64];
};

static void make_path(const struct sandbox *s, const char *path, char ret[CASE_PATH_MAX])
{
	bool outside = strncmp(path, "@out/", 5) == 0;

	snprintf(ret, CASE_PATH_MAX, "%s/%s", outside ? s->out : s->project,
		outside ? path + 5 : path);
}

static void make_target(const struct sandbox *s, const char *target, char ret[CASE_PATH_MAX])
{
	if (strncmp(target, "@out/", 5) == 0)
		make_path(s, target, ret);
	else
		snprintf(ret, CASE_PATH_MAX, "%s", target);
}

static bool make_file(const char *path, json_t *e)
{
	json_t *fill = json_object_get(e, "fill");
	struct text byte = json_get_text(fill, "byte");
	AUTO(str) content = STR_INIT(CASE_BYTES_MAX);
	auto_error struct error err = ERROR_INIT;
	auto_fd int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	add_text(&content, json_get_text(e, "text"));
	for (int64_t i = json_get_int(fill, "count", 0); i > 0; i--)
		add_text(&content, byte);
	return fd >= 0 && file_write_all(fd, str_text(&content), content.len, &err) == 0 &&
	       (!json_object_get(e, "sparse") || ftruncate(fd, json_get_int(e, "sparse", 0)) == 0);
}

static bool make_socket(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	auto_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (strlen(path) >= sizeof(address.sun_path))
		return false;
	memcpy(address.sun_path, path, strlen(path));
	return fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
}

static mode_t mode_of(const char *octal)
{
	mode_t mode = 0;

	for (; *octal; octal++)
		mode = mode * 8 + (mode_t)(*octal - '0');
	return mode;
}

static bool make_entry(const struct sandbox *s, json_t *e)
{
	const char *type = json_get_string(e, "type"), *target = json_get_string(e, "target");
	const char *mode = json_get_string(e, "mode");
	char path[CASE_PATH_MAX], to[CASE_PATH_MAX];
	bool made = false;

	make_path(s, json_get_string(e, "path"), path);
	if (target)
		make_target(s, target, to);
	if (strcmp(type, "dir") == 0)
		made = mkdir(path, 0755) == 0;
	else if (strcmp(type, "file") == 0)
		made = make_file(path, e);
	else if (strcmp(type, "symlink") == 0)
		made = symlink(to, path) == 0;
	else if (strcmp(type, "fifo") == 0)
		made = mkfifo(path, 0644) == 0;
	else if (strcmp(type, "socket") == 0)
		made = make_socket(path);
	else if (strcmp(type, "hardlink") == 0) {
		char from[CASE_PATH_MAX];
		make_path(s, target, from);
		made = link(from, path) == 0;
	}
	return made && (!mode || chmod(path, mode_of(mode)) == 0);
}

static bool make_tree(const struct sandbox *s, json_t *tree)
{
	size_t i;
	json_t *e;

	json_array_foreach(tree, i, e) if (!make_entry(s, e)) return false;
	return true;
}

static void remove_tree(const struct sandbox *s, json_t *tree)
{
	auto_error struct error err = ERROR_INIT;
	char path[CASE_PATH_MAX];
	size_t i;
	json_t *e;

	json_array_foreach(tree, i, e)
	{
		make_path(s, json_get_string(e, "path"), path);
		if (json_get_string(e, "mode") && strcmp(json_get_string(e, "type"), "dir") == 0)
			(void)!chmod(path, 0700);
	}
	auto_fd int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (file_remove_tree_at(tmp, s->project + strlen("/tmp/"), &err) < 0 ||
		file_remove_tree_at(tmp, s->out + strlen("/tmp/"), &err) < 0)
		printf("# not removed: %s\n", err.message);
}

static json_t *load(const char *project, int64_t *ret_us)
{
	AUTO(spec_result) result = {0};
	auto_error struct error err = ERROR_INIT;
	int64_t start = cpu_us();
	int r = spec_load_dir(project, &checks, &result, &err);

	*ret_us = cpu_us() - start;
	return r < 0 ? error_to_json(&err) : spec_json_check(&result);
}

static void run_load(json_t *c, struct case_result *r)
{
	struct sandbox s = {"/tmp/cloop-case-XXXXXX", "/tmp/cloop-case-out-XXXXXX"};
	json_t *tree = json_object_get(c, "tree");
	int64_t us = 0;

	if (json_get_bool(c, "skip_if_root", false) && geteuid() == 0) {
		*r = (struct case_result){.skip = "it runs as root"};
		return;
	}
	if (!mkdtemp(s.project) || !mkdtemp(s.out) || !make_tree(&s, tree))
		*r = (struct case_result){.got = json_string("the tree could not be made")};
	else
		finish_answer(r, c, load(s.project, &us), us);
	remove_tree(&s, tree);
}

/* ---- size, hash, env, status ---- */

static void run_size(json_t *c, struct case_result *r)
{
	uint64_t mb = 0;
	enum problem_code code = value_size(json_get_text(c, "text"), VALUE_SIZE_MAX_MB, &mb);

	case_exact(r, c,
		code ? json_pack("{s:s}", "error", problem_code_text(code))
		     : json_pack("{s:I}", "mb", (json_int_t)mb));
}

static json_t *hash_of(struct text yaml, const char *which)
{
	AUTO(spec_result) result = {0};

	spec_parse(yaml, &checks, &result);
	const char *hash = strcmp(which, "sha256") == 0 ? result.sha256 : result.setup_sha256;
	return result.ok ? json_from_string(hash[0] ? hash : NULL) : json_string("invalid");
}

static void run_hash_lists(json_t *c, struct case_result *r, json_t *texts, bool equal)
{
	const char *which = json_get_string(c, "which");
	json_t *hashes = json_array(), *text;
	size_t i, j;

	r->ok = true;
	json_array_foreach(texts, i, text)
	{
		json_t *h = hash_of(json_text(text), which);
		if (!json_is_string(h) || text_is(json_text(h), "invalid"))
			r->ok = false;
		for (j = 0; j < i; j++)
			if ((bool)json_equal(h, json_array_get(hashes, j)) != equal)
				r->ok = false;
		json_array_append_new(hashes, h);
	}
	r->got = hashes;
}

static json_t *text_or_null(bool there, const struct str *s)
{
	return there ? json_stringn(str_text(s), s->len) : json_null();
}

static void run_hash(json_t *c, struct case_result *r)
{
	json_t *equal = json_object_get(c, "equal"), *differ = json_object_get(c, "differ");
	AUTO(spec_result) result = {0};
	AUTO(str) canonical = STR_INIT(CASE_BYTES_MAX);
	AUTO(str) setup = STR_INIT(CASE_BYTES_MAX);

	if (equal || differ) {
		run_hash_lists(c, r, equal ? equal : differ, equal != NULL);
		return;
	}
	spec_parse(json_get_text(c, "yaml"), &checks, &result);
	spec_hash_text(&result.spec, &canonical);
	bool has_setup = spec_hash_setup_text(&result.spec, &setup);
	case_subset(r, c,
		json_pack("{s:o, s:o, s:o, s:o}", "canonical", text_or_null(result.ok, &canonical),
			"sha256", json_from_string(result.sha256[0] ? result.sha256 : NULL),
			"setup_canonical", text_or_null(has_setup, &setup), "setup_sha256",
			json_from_string(result.setup_sha256[0] ? result.setup_sha256 : NULL)));
}

static void run_env(json_t *c, struct case_result *r)
{
	AUTO(spec_result) result = {0};
	json_t *got = json_array(), *entry;
	size_t i;

	spec_parse(json_get_text(c, "yaml"), &checks, &result);
	json_array_foreach(json_object_get(c, "env"), i,
		entry) if (result.ok && env_filter_passes(&result.spec, json_text(entry)))
		json_array_append(got, entry);
	case_exact(r, c, got);
}

static void run_status(json_t *c, struct case_result *r)
{
	enum error_code code = error_code_from_text(json_get_text(c, "code"));

	case_exact(r, c,
		code == ERROR_NONE
			? json_pack("{s:s}", "error", "no such code")
			: json_pack("{s:i, s:i, s:i}", "http", error_code_http(code), "run_exit",
				  error_code_run_exit(code), "check_exit", 1));
}

/* ---- apply ---- */

static void read_names(json_t *list, struct strv *ret)
{
	size_t i;
	json_t *name;

	json_array_foreach(list, i, name) if (strv_add(ret, json_string_value(name)) < 0) return;
}

static void read_run(json_t *o, struct run_spec *run)
{
	json_t *limits = json_object_get(o, "limits");

	mem_set_string(&run->image, json_get_string(o, "image"));
	run->limits = (struct limits){
		.cpu_millis = (uint64_t)json_get_int(limits, "cpu_millis", 0),
		.memory_mb = (uint64_t)json_get_int(limits, "memory_mb", 0),
		.pids = (uint64_t)json_get_int(limits, "pids", 0),
		.disk_mb = (uint64_t)json_get_int(limits, "disk_mb", 0),
	};
	run->workspace_size_limit_mb = (uint64_t)json_get_int(o, "workspace_size_limit_mb", 0);
	read_names(json_object_get(o, "devices"), &run->devices);
	read_names(json_object_get(o, "interfaces"), &run->interfaces);
}

static bool is_or_absent(const char *value, const char *word)
{
	return !value || strcmp(value, word) == 0;
}

static struct apply_grant *read_grants(json_t *list)
{
	struct apply_grant *grants = mem_alloc(json_array_size(list) * sizeof(*grants));
	size_t i;
	json_t *g;

	json_array_foreach(list, i, g) grants[i] = (struct apply_grant){json_get_string(g, "id"),
		json_get_string(g, "scope"), is_or_absent(json_get_string(g, "state"), "active"),
		is_or_absent(json_get_string(g, "project"), "this")};
	return grants;
}

static int compare_codes(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The codes of both lists. */
static json_t *sorted_codes(const struct problems *a, const struct problems *b)
{
	auto_free const char **codes = mem_grow(NULL, a->n + b->n, sizeof(*codes));
	json_t *list = json_array();

	for (size_t i = 0; i < a->n + b->n; i++)
		codes[i] = i < a->n ? a->v[i].code : b->v[i - a->n].code;
	qsort(codes, a->n + b->n, sizeof(*codes), compare_codes);
	for (size_t i = 0; i < a->n + b->n; i++)
		json_array_append_new(list, json_string(codes[i]));
	return list;
}

static json_t *refusal(const struct error *err)
{
	json_t *o = json_pack("{s:b, s:s, s:s, s:s}", "ok", 0, "error", error_code_text(err->code),
		"message", err->message, "remediation", error_remedy(err));
	json_t *names = json_object_get(err->details, "names");

	if (names)
		json_object_set(o, "names", names);
	return o;
}

static json_t *apply(json_t *c, const struct spec_result *file, struct run_spec *run)
{
	auto_free struct apply_grant *grants = read_grants(json_object_get(c, "grants"));
	const struct apply_facts facts = {.grants = grants,
		.n_grants = json_array_size(json_object_get(c, "grants")),
		.executor_network = json_get_string(c, "executor_network")};
	AUTO(problems) warnings = PROBLEMS_INIT(PROBLEMS_WARNINGS_MAX);
	auto_error struct error err = ERROR_INIT;
	auto_json *before = run_spec_to_json(run);

	int failed = file->ok ? apply_spec(file, &facts, run, &warnings, &err)
			      : spec_result_error(file, &err);
	auto_json *after = run_spec_to_json(run);
	if (failed)
		return json_equal(before, after) ? refusal(&err)
						 : json_string("the run was changed");
	return json_pack("{s:b, s:O, s:o}", "ok", 1, "run", after, "warnings",
		sorted_codes(&file->warnings, &warnings));
}

static void run_apply(json_t *c, struct case_result *r)
{
	AUTO(spec_result) file = {0};
	AUTO(run_spec) run = RUN_SPEC_INIT;

	spec_parse(json_get_text(c, "yaml"), &checks, &file);
	read_run(json_object_get(c, "run"), &run);
	case_subset(r, c, apply(c, &file, &run));
}

#define FIELDS(...) ((const char *const[]){__VA_ARGS__, NULL})

const struct case_kind case_spec_kinds[] = {
	{"parse", FIELDS("yaml", "yaml_b64", "yaml_parts", "max_ms", "must_not_output"), run_parse},
	{"load", FIELDS("tree", "max_ms", "must_not_output", "skip_if_root"), run_load},
	{"size", FIELDS("text"), run_size},
	{"hash", FIELDS("which", "equal", "differ", "yaml"), run_hash},
	{"apply", FIELDS("yaml", "run", "grants", "executor_network"), run_apply},
	{"env", FIELDS("yaml", "env"), run_env},
	{"status", FIELDS("code"), run_status},
	{0},
};
