#include "lib/spec.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "lib/error.h"
#include "lib/strings.h"

enum { REDACT_MAX = 1024, LEASE_PREFIX = 6, LEASE_DIGITS = 24, DIRECTORY_MAX = 63 };
enum { CPU_MILLIS_MAX = 1024000, MB_MIN = 64, MB_MAX = 1048576, PIDS_MAX = 4194304 };
enum { FILE_MAX = 262144, ENTRIES_MAX = 65536 };
#define TIMEOUT_MS_MAX INT64_C(3153600000000) /* a hundred years */

void cloop_spec_init(struct cloop_spec *spec)
{
	if (spec)
		memset(spec, 0, sizeof(*spec));
}

void lib_spec_done(struct lib_spec *s)
{
	for (size_t i = 0; i < s->n_secrets; i++)
		secret_done(&s->secrets[i]);
	material_done(&s->material);
	strv_done(&s->redact);
	free(s->argv);
	free(s->env);
	free(s->setup_lines);
	free(s->secrets);
	free(s->mounts);
	free(s->host_mounts);
	free(s->devices);
	free(s->interfaces);
	free(s->labels);
	*s = LIB_SPEC_INIT;
}

/* ---- Lists ---- */

static struct text view(const char *s)
{
	return text_of(lib_text(s));
}

static size_t count(const char *const *list)
{
	size_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

/* Views of a list of texts, with room for more. */
static struct text *views(const char *const *list, size_t more, size_t *ret_n)
{
	size_t n = count(list);
	struct text *v = mem_alloc((n + more + 1) * sizeof(*v));

	for (size_t i = 0; i < n; i++)
		v[i] = text_of(list[i]);
	*ret_n = n;
	return v;
}

static struct request_mount *read_mounts(const struct cloop_mount *in, size_t n)
{
	struct request_mount *v = mem_alloc((n + 1) * sizeof(*v));

	for (size_t i = 0; i < n; i++)
		v[i] = (struct request_mount){.name = view(in[i].name),
			.source = view(in[i].source),
			.target = view(in[i].target),
			.read_only = in[i].read_only};
	return v;
}

static void read_lists(const struct cloop_spec *in, struct lib_spec *s)
{
	struct container_request *r = &s->request;

	s->argv = views(in->argv, 0, &r->n_argv);
	s->env = views(in->env, in->n_secret_variables, &r->n_env);
	s->setup_lines = views(in->setup, 0, &s->n_setup);
	s->mounts = read_mounts(in->mounts, in->n_mounts);
	s->host_mounts = read_mounts(in->host_mounts, in->n_host_mounts);
	s->labels = mem_alloc((in->n_labels + 1) * sizeof(*s->labels));
	for (size_t i = 0; i < in->n_labels; i++)
		s->labels[i] =
			(struct request_label){view(in->labels[i].key), view(in->labels[i].value)};
	r->argv = s->argv;
	r->env = s->env;
	s->setup = s->setup_lines;
	r->mounts = s->mounts;
	r->n_mounts = in->n_mounts;
	r->host_mounts = s->host_mounts;
	r->n_host_mounts = in->n_host_mounts;
	r->labels = s->labels;
	r->n_labels = in->n_labels;
}

static void read_hardware(const struct cloop_spec *in, struct lib_spec *s)
{
	s->devices = mem_alloc((in->n_devices + 1) * sizeof(*s->devices));
	for (size_t i = 0; i < in->n_devices; i++)
		s->devices[i] = (struct request_device){view(in->devices[i].name),
			view(in->devices[i].source), view(in->devices[i].target),
			view(in->devices[i].permissions)};
	s->interfaces = mem_alloc((in->n_interfaces + 1) * sizeof(*s->interfaces));
	for (size_t i = 0; i < in->n_interfaces; i++) {
		const struct cloop_interface *one = &in->interfaces[i];
		s->interfaces[i] = (struct request_interface){.name = view(one->name),
			.source = view(one->source),
			.target = view(one->target),
			.address = view(one->address),
			.gateway = view(one->gateway),
			.mtu = one->mtu};
	}
	s->request.devices = s->devices;
	s->request.n_devices = in->n_devices;
	s->request.interfaces = s->interfaces;
	s->request.n_interfaces = in->n_interfaces;
}

/* ---- Limits ---- */

static uint64_t or_default(uint64_t asked, uint64_t normal)
{
	return asked ? asked : normal;
}

static void read_limits(const struct cloop_limits *in, const struct container_options *o,
	bool bounded, struct container_request *r)
{
	bool asked = in->cpu_millis || in->memory_mb || in->pids || in->disk_mb;
	uint64_t pids = o->pids_limit > 0 ? (uint64_t)o->pids_limit : 0;

	r->has_limits = asked || !bounded;
	if (!asked)
		return;
	r->limits = (struct limits){
		.cpu_millis = or_default(in->cpu_millis, bounded ? o->cpu_millis : 0),
		.memory_mb = or_default(in->memory_mb, bounded ? o->memory_mb : 0),
		.pids = or_default(in->pids, bounded ? pids : 0),
		.disk_mb = in->disk_mb,
	};
}

struct number {
	const char *name;
	uint64_t value, min, max; /* min: of what is not 0 */
	enum error_code code;
};

static int refuse_number(const struct number *n, struct error *err)
{
	unsigned long long min = n->min, max = n->max;

	/* All maxima are far below: what is above 2^63 was a negative number. */
	error_set(err, n->code, "%s of a run: %lld is neither 0 nor from %llu to %llu", n->name,
		(long long)n->value, min, max);
	return error_set_remedy(err, "%s is 0, or from %llu to %llu", n->name, min, max);
}

/*
 * The bounds of the options (container-driver.md §3) and of sandbox.yaml. What is above would wrap
 * around on its way to the engine, and then bind nothing, or at once.
 */
static int check_numbers(const struct cloop_spec *in, struct error *err)
{
	const struct cloop_limits *l = &in->limits;
	const struct number rows[] = {
		{"cpu_millis", l->cpu_millis, 1, CPU_MILLIS_MAX, ERROR_CPUS_INVALID},
		{"memory_mb", l->memory_mb, MB_MIN, MB_MAX, ERROR_MEMORY_INVALID},
		{"pids", l->pids, 1, PIDS_MAX, ERROR_PIDS_INVALID},
		{"disk_mb", l->disk_mb, MB_MIN, MB_MAX, ERROR_OUT_OF_RANGE},
		/* A negative one is above, too. */
		{"timeout_ms", (uint64_t)in->timeout_ms, 1, TIMEOUT_MS_MAX, ERROR_OUT_OF_RANGE},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].value > rows[i].max ||
			(rows[i].value > 0 && rows[i].value < rows[i].min))
			return refuse_number(&rows[i], err);
	return 0;
}

/* Lists that are there; what is longer than all patience is not copied to be counted. */
static int check_lists(const struct cloop_spec *in, struct error *err)
{
	const struct {
		const char *name;
		const void *list;
		size_t n;
		enum error_code code;
	} rows[] = {
		{"mounts", in->mounts, in->n_mounts, ERROR_MOUNTS_TOO_MANY},
		{"host_mounts", in->host_mounts, in->n_host_mounts, ERROR_MOUNTS_TOO_MANY},
		{"devices", in->devices, in->n_devices, ERROR_DEVICES_TOO_MANY},
		{"interfaces", in->interfaces, in->n_interfaces, ERROR_INTERFACES_TOO_MANY},
		{"labels", in->labels, in->n_labels, ERROR_LABELS_TOO_MANY},
		{"secret_files", in->secret_files, in->n_secret_files, ERROR_SECRETS_TOO_LARGE},
		{"secret_variables", in->secret_variables, in->n_secret_variables,
			ERROR_ENV_TOO_MANY},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (lib_missing_list(err, rows[i].name, rows[i].list, rows[i].n))
			return -1;
		if (rows[i].n > ENTRIES_MAX)
			return error_set(
				err, rows[i].code, "%s: %zu are too many", rows[i].name, rows[i].n);
	}
	for (size_t i = 0; i < in->n_secret_files; i++)
		if (lib_missing_list(err, "data of a secret file", in->secret_files[i].data,
			    in->secret_files[i].size))
			return -1;
	return 0;
}

/* ---- The lease ---- */

static int read_lease(const struct cloop_spec *in, struct material *m, struct error *err)
{
	struct text lease = view(in->lease);
	const char *dir = lib_text(in->secret_dir);

	if (lease.len == 0 && in->n_secret_files + in->n_secret_variables == 0)
		return 0;
	if (!text_starts(lease, "lease_") || lease.len != LEASE_PREFIX + LEASE_DIGITS ||
		!text_is_hex(text_after(lease, LEASE_PREFIX), LEASE_DIGITS)) {
		error_set(err, ERROR_LEASE_MISSING, "secrets need the id of a lease, not %s",
			quoted(lease));
		return error_set_remedy(err, "give lease_ and 24 lower-case hexadecimal digits");
	}
	memcpy(m->lease, in->lease, lease.len + 1);
	m->lasting = true;
	if (strlen(dir) > DIRECTORY_MAX)
		return error_set(err, ERROR_SECRET_DIR_INVALID, "the directory of secrets %s",
			quoted_string(dir));
	if (dir[0])
		snprintf(m->dir, sizeof(m->dir), "%s", dir);
	else
		snprintf(m->dir, sizeof(m->dir), "/run/cloop/cloop-lease-%s",
			in->lease + LEASE_PREFIX);
	return 0;
}

/* Without a grant it is the lease as a whole that brings it. NULL + err: none of these. */
static struct material_binding *binding_of(
	struct material *m, const char *grant, enum secret_kind kind, struct error *err)
{
	const char *id = lib_given(grant) ? grant : m->lease;
	struct material_binding *b =
		strlen(id) < GRANT_ID_SIZE ? material_binding_of(m, id, kind) : NULL;

	if (!b)
		error_set(err, ERROR_USAGE, "%s is no grant, or one too many of a lease",
			quoted_string(id));
	return b;
}

static int add_file(const struct cloop_secret_file *f, struct lib_spec *s, struct error *err)
{
	AUTO(secret) content = {.p = NULL};
	struct material_binding *b = binding_of(&s->material, f->grant, SECRET_FILE, err);
	/* Of one that is too large no more is copied than shows it. */
	size_t size = f->size > FILE_MAX ? FILE_MAX + 1 : f->size;

	if (!b)
		return -1;
	SECRET_CONCAT(&content, (struct text){f->data, size});
	if (strv_add(&b->files, lib_text(f->name)) < 0 ||
		material_add_file(
			&s->material, lib_text(f->name), f->mode ? f->mode : 0600, &content) < 0)
		return error_set(err, ERROR_SECRETS_TOO_LARGE, "more than %d secret files",
			MATERIAL_FILES_MAX);
	return 0;
}

static int add_variable(
	const struct cloop_secret_variable *v, struct lib_spec *s, struct error *err)
{
	struct text name = view(v->name), value = view(v->value);
	AUTO(secret) copy = {.p = NULL};
	struct material_binding *b = binding_of(&s->material, v->grant, SECRET_ENV, err);

	if (!b)
		return -1;
	/* Else it would be another variable, and its value masked nowhere. */
	if (name.len > 0 && memchr(name.p, '=', name.len))
		return error_set(err, ERROR_ENV_NAME_INVALID,
			"the name of the secret variable %s holds a =", quoted(name));
	SECRET_CONCAT(&s->secrets[s->n_secrets], name, TEXT("="), value);
	/* Behind all others: the last value of a name counts. */
	s->env[s->request.n_env++] = secret_text(&s->secrets[s->n_secrets++]);
	SECRET_CONCAT(&copy, value);
	if (strv_add(&b->env_keys, name.p) < 0 ||
		material_add_variable(&s->material, name.p, &copy, true) < 0)
		return error_set(
			err, ERROR_ENV_TOO_MANY, "more than %d secret variables", MATERIAL_ENV_MAX);
	return strv_add(&s->redact, name.p);
}

static int read_secrets(const struct cloop_spec *in, struct lib_spec *s, struct error *err)
{
	s->secrets = mem_alloc((in->n_secret_variables + 1) * sizeof(*s->secrets));
	for (size_t i = 0; i < in->n_secret_files; i++)
		if (add_file(&in->secret_files[i], s, err) < 0)
			return -1;
	for (size_t i = 0; i < in->n_secret_variables; i++)
		if (add_variable(&in->secret_variables[i], s, err) < 0)
			return -1;
	return 0;
}

int lib_spec_read(const struct cloop_spec *in, const struct container_options *options,
	bool bounded, struct lib_spec *ret, struct error *err)
{
	struct container_request *r = &ret->request;

	ret->redact = STRV_INIT(REDACT_MAX);
	if (check_lists(in, err) < 0 || check_numbers(in, err) < 0)
		return -1;
	if (!lib_given(in->work_dir))
		return error_set(err, ERROR_USAGE, "a run needs a work_dir");
	if (lib_strings_take(in->redact, &ret->redact) < 0)
		return error_set(err, ERROR_ENV_TOO_MANY, "more than %d names to mask", REDACT_MAX);
	read_lists(in, ret);
	read_hardware(in, ret);
	read_limits(&in->limits, options, bounded, r);
	r->work_dir = view(in->work_dir);
	r->image = text_of(lib_given(in->image) ? in->image : options->image);
	r->disable_network = in->disable_network;
	r->egress_scope = view(in->egress_scope);
	r->sandbox_sha256 = view(in->sandbox_sha256);
	return read_lease(in, &ret->material, err) < 0 ? -1 : read_secrets(in, ret, err);
}
