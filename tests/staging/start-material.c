/*
 * Starts a run with a material of the test's own making, as dispatch does with that of a lease:
 *     start-material HOME CONFIG PROJECT ARGV…        the material as JSON on stdin
 * {"lease", "dir", "expires_at", "hard_end", "files": [{"name", "mode", "text" | "hex"}],
 *  "variables": [{"name", "value", "sensitive"}], "bindings": [{"grant", "kind", "files",
 *  "env_keys"}], "hold": "refuse" | FILE}
 * Prints {"handle"} or the error's envelope with the handle, if there was one.
 *     start-material --revoke HOME CONFIG HANDLE     takes a lease back; the request on stdin
 *     start-material --refresh HOME HANDLE LEASE NAME     the new content on stdin
 */
#include <fcntl.h>
#include <string.h>

#include "base/mem.h"
#include "executor/container/request.h"
#include "executor/rundir/control.h"
#include "executor/rundir/record.h"
#include "run/decision.h"
#include "sys/file.h"
#include "sys/log.h"
#include "vault/material.h"

enum { INPUT_MAX = 16 << 20, ENV_MAX = 512, ARGV_MAX = 64 };

static struct secret secret_of(const json_t *value)
{
	struct secret s = {.p = NULL};
	struct text t = json_text(value);

	SECRET_CONCAT(&s, t);
	return s;
}

static struct secret content_of(const json_t *file)
{
	const char *hex = json_get_string(file, "hex");
	struct secret s = {.p = NULL};

	if (!hex)
		return secret_of(json_object_get(file, "text"));
	s.len = strlen(hex) / 2;
	s.p = mem_alloc(s.len + 1);
	return hex_decode(text_of(hex), s.p, s.len) == 0 ? s : (struct secret){.p = NULL};
}

static void read_lists(const json_t *j, struct material *m)
{
	size_t i;
	json_t *one;

	json_array_foreach(json_object_get(j, "files"), i, one)
	{
		struct secret content = content_of(one);
		if (material_add_file(m, json_get_string(one, "name"),
			    (mode_t)json_get_int(one, "mode", 0600), &content) < 0)
			abort();
	}
	json_array_foreach(json_object_get(j, "variables"), i, one)
	{
		struct secret value = secret_of(json_object_get(one, "value"));
		if (material_add_variable(m, json_get_string(one, "name"), &value,
			    json_get_bool(one, "sensitive", true)) < 0)
			abort();
	}
	json_array_foreach(json_object_get(j, "bindings"), i, one)
	{
		struct material_binding *b = material_binding_of(m, json_get_string(one, "grant"),
			(enum secret_kind)secret_kind_from_text(json_get_text(one, "kind")));
		if (!b || json_exact_list_bytes(json_object_get(one, "files"), &b->files) < 0 ||
			json_exact_list_bytes(json_object_get(one, "env_keys"), &b->env_keys) < 0)
			abort();
	}
}

static void copy_text(const json_t *j, const char *key, char *out, size_t size)
{
	const char *s = json_get_string(j, key);

	snprintf(out, size, "%s", s ? s : "");
}

static json_t *read_material(struct material *m, struct error *err)
{
	AUTO(str) bytes = STR_INIT(INPUT_MAX);

	if (file_read_fd(STDIN_FILENO, INPUT_MAX - 1, &bytes, err) != 0)
		return NULL;
	json_t *j = json_read((struct text){str_text(&bytes), bytes.len}, INPUT_MAX, "material",
		ERROR_USAGE, err);
	if (!j)
		return NULL;
	copy_text(j, "lease", m->lease, sizeof(m->lease));
	copy_text(j, "dir", m->dir, sizeof(m->dir));
	m->expires_at = json_get_int(j, "expires_at", 0);
	m->hard_end = json_get_int(j, "hard_end", 0);
	read_lists(j, m);
	return j;
}

/* "refuse", or a file that says whose material it was. */
static int hold(void *data, const char *handle, struct error *err)
{
	const char *how = data;

	if (strcmp(how, "refuse") == 0)
		return error_set(err, ERROR_SECRET_STORE, "the lease could not be put on record");
	auto_fd int fd = open(how, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return file_write_all(fd, handle, strlen(handle), err);
}

static size_t add_env(const struct material *m, struct strv *lines, struct text *ret)
{
	for (size_t i = 0; i < m->n_variables && i < ENV_MAX; i++) {
		strv_addf(lines, "%s=%s", m->variables[i].name, m->variables[i].value.p);
		ret[i] = text_of(lines->v[i]);
	}
	return lines->n;
}

static int start(char **argv, char handle[EXECUTOR_HANDLE_SIZE], struct error *err)
{
	AUTO(material) m = MATERIAL_INIT;
	AUTO(context) c = {.home = HOME_INIT};
	AUTO(decision) d = DECISION_INIT;
	AUTO(strv) env = STRV_INIT(1), lines = STRV_INIT(ENV_MAX);
	struct text words[ARGV_MAX], entries[ENV_MAX];
	size_t n_words = 0;

	auto_json *material = read_material(&m, err);
	struct decision_input input = {.project = argv[2], .env = &env};
	if (!material || context_open(argv[0], argv[1], &c, err) < 0 ||
		decision_choose(&c, &input, &d, err) < 0 || decision_make(&c, &input, &d, err) < 0)
		return -1;
	for (size_t i = 3; argv[i] && n_words < ARGV_MAX; i++)
		words[n_words++] = text_of(argv[i]);
	struct container_request request = {
		.work_dir = text_of(argv[2]),
		.argv = words,
		.n_argv = n_words,
		.image = text_of(c.config.container.image),
		.env = entries,
		.n_env = add_env(&m, &lines, entries),
		.has_limits = true,
		.limits = d.limits.limits,
	};
	struct record_facts facts = {.executor_id = d.executor->id,
		.executor_kind = executor_kind(d.executor),
		.project = argv[2],
		.image_requested = ""};
	auto_json *record = record_new(&facts);
	json_object_set_new(record, "limits", decision_limits_to_json(&d));
	const char *hold_how = json_get_string(material, "hold");
	auto_free char *how = hold_how ? mem_strdup(hold_how) : NULL;
	struct executor_start what = {.home = c.home.path,
		.request = &request,
		.image_origin = IMAGE_ORIGIN_OPERATOR,
		.record = record,
		.cancel_fd = -1,
		.material = &m,
		.hold = how ? hold : NULL,
		.hold_data = how};
	return executor_start(d.executor, &what, handle, err);
}

static int take_back(char **argv, json_t **ret, struct error *err)
{
	AUTO(context) c = {.home = HOME_INIT};
	AUTO(str) bytes = STR_INIT(INPUT_MAX);

	if (context_open(argv[0], argv[1], &c, err) < 0 ||
		file_read_fd(STDIN_FILENO, INPUT_MAX - 1, &bytes, err) != 0)
		return -1;
	auto_json *request = json_read(
		(struct text){str_text(&bytes), bytes.len}, INPUT_MAX, "request", ERROR_USAGE, err);
	struct executor *e = request ? context_executor(&c, NULL, err) : NULL;
	return e ? executor_revoke_lease(e, c.home.path, argv[2], request, ret, err) : -1;
}

static int refresh(char **argv, json_t **ret, struct error *err)
{
	AUTO(home) h = HOME_INIT;
	AUTO(str) bytes = STR_INIT(INPUT_MAX);

	if (home_open(argv[0], &h, err) < 0 ||
		file_read_fd(STDIN_FILENO, INPUT_MAX - 1, &bytes, err) != 0)
		return -1;
	auto_json *request = json_pack("{s:s, s:s, s:s, s:I}", "op", "refresh", "lease", argv[2],
		"name", argv[3], "size", (json_int_t)bytes.len);
	*ret = json_object();
	return control_call_bytes(
		&h, argv[1], request, (struct text){str_text(&bytes), bytes.len}, err);
}

static int finish(int r, json_t *answer, const struct error *err)
{
	auto_json *shown = r == 0 ? json_incref(answer) : error_to_json(err);
	auto_free char *text = json_write(shown);

	puts(text);
	return r == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
	auto_error struct error err = ERROR_INIT;
	char handle[EXECUTOR_HANDLE_SIZE] = "";
	auto_json *answer = NULL;

	log_open("start-material", LOG_LEVEL_INFO);
	if (argc < 5)
		return 2;
	if (argv[1][0] == '-') {
		int done = strcmp(argv[1], "--revoke") == 0 ? take_back(argv + 2, &answer, &err)
							    : refresh(argv + 2, &answer, &err);
		return finish(done, answer, &err);
	}
	int r = start(argv + 1, handle, &err);
	answer = r == 0 ? json_object() : error_to_json(&err);
	json_object_set_new(answer, "handle", json_string(handle));
	return finish(0, answer, &err) + (r < 0);
}
