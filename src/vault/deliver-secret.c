/* Kinds whose payload is the credential: env, file, registry, kubeconfig (§16.4-§16.7). */
#include <string.h>

#include "base/mem.h"
#include "spec/env-filter.h"
#include "vault/deliver-internal.h"
#include "vault/env-payload.h"
#include "vault/fresh-id.h"
#include "vault/kubeconfig.h"
#include "vault/registry-payload.h"
#include "vault/secret-file.h"
#include "vault/variable-name.h"

enum { FILE_MODE = 0600 };
#define LEASE_DIR "/run/cloop/cloop-lease-"

/* Does the file let it through, and has no newer grant given it? */
static bool wanted(const struct delivery *d, const char *variable)
{
	if (d->spec && !env_filter_passes_name(d->spec, text_of(variable)))
		return false;
	for (size_t i = 0; i < d->material->n_variables; i++)
		if (strcmp(d->material->variables[i].name, variable) == 0)
			return false;
	return true;
}

static struct material_binding *bind(const struct delivery *d)
{
	return material_binding_of(d->material, d->grant->id, d->grant->kind);
}

/* ---- Variables ---- */

static int read_variables(const struct delivery *d, struct env_payload *ret, struct error *err)
{
	const struct store_secret *s = d->secret;
	int format = s->format ? env_format_from_text(text_of(s->format)) : ENV_FORMAT_AUTO;
	struct env_payload_options options = {
		.secret = text_of(s->name),
		.env_name = text_of(s->env),
		.format = format < 0 ? ENV_FORMAT_AUTO : (enum env_format)format,
	};

	if (env_payload_read(&options, d->payload, ret, err) < 0)
		return -1;
	env_payload_select(ret, &d->grant->constraints.env_keys);
	if (ret->n == 0)
		return error_set(err, ERROR_GRANT_CONSTRAINT_INVALID,
			"the grant's env_keys name no variable of the secret");
	return 0;
}

int deliver_env(const struct delivery *d, struct error *err)
{
	AUTO(env_payload) payload = {.n = 0};
	struct material *m = d->material;
	size_t n = 0;

	if (read_variables(d, &payload, err) < 0)
		return -1;
	for (size_t i = 0; i < payload.n; i++)
		n += wanted(d, payload.v[i].name);
	if (n == 0)
		return DELIVER_FILTERED;
	struct material_binding *binding = m->n_variables + n <= MATERIAL_ENV_MAX ? bind(d) : NULL;
	if (!binding)
		return deliver_full("variables", err);
	for (size_t i = 0; i < payload.n; i++) {
		struct env_variable *v = &payload.v[i];
		if (wanted(d, v->name) &&
			(strv_add(&binding->env_keys, v->name) < 0 ||
				material_add_variable(m, v->name, &v->value, true) < 0))
			return deliver_full("variables", err);
	}
	return 0;
}

/* ---- Files ---- */

/* A file and the variable that tells where it is; `variable` NULL: none. */
struct new_file {
	const char *name;
	mode_t mode;
	const char *variable;
	bool names_dir; /* the variable names the directory, not the file */
};

static int need_dir(struct material *m, struct error *err)
{
	return m->dir[0] ? 0 : fresh_id(LEASE_DIR, m->dir, sizeof(m->dir), err);
}

static int judge_name(const struct delivery *d, const char *name, struct error *err)
{
	const struct material *m = d->material;

	for (size_t i = 0; i < m->n_files; i++)
		if (strcmp(m->files[i].name, name) == 0)
			return error_set(err, ERROR_SECRET_DUPLICATE,
				"another grant gives a file %s", quoted_string(name));
	return 0;
}

/* Takes the content. */
static int add_file(const struct delivery *d, const struct new_file *f, struct secret *content,
	struct error *err)
{
	struct material *m = d->material;
	struct material_binding *binding = NULL;
	bool room = m->n_files < MATERIAL_FILES_MAX && m->n_variables < MATERIAL_ENV_MAX;

	if (judge_name(d, f->name, err) < 0 || need_dir(m, err) < 0)
		return -1;
	if (room)
		binding = bind(d);
	if (!binding || strv_add(&binding->files, f->name) < 0 ||
		material_add_file(m, f->name, f->mode, content) < 0)
		return deliver_full("files", err);
	if (!f->variable)
		return 0;
	auto_free char *path = mem_printf("%s/%s", m->dir, f->name);
	return deliver_plain_variable(m, f->variable, text_of(f->names_dir ? m->dir : path), err);
}

int deliver_file(const struct delivery *d, struct error *err)
{
	const struct store_secret *s = d->secret;
	auto_free char *variable = variable_name_of(SECRET_FILE_VARIABLE, text_of(s->name));
	struct new_file f = {
		.name = s->file_name ? s->file_name : s->name,
		.mode = s->mode ? (mode_t)s->mode : FILE_MODE,
		.variable = variable,
	};
	struct secret content;

	if (d->spec && !env_filter_passes_name(d->spec, text_of(variable)))
		return DELIVER_FILTERED;
	/* Two names that are spelled alike: the file is there, and the newer one has the variable.
	 */
	if (!wanted(d, variable))
		f.variable = NULL;
	SECRET_CONCAT(&content, d->payload);
	int r = add_file(d, &f, &content, err);
	secret_done(&content);
	return r;
}

int deliver_registry(const struct delivery *d, struct error *err)
{
	const struct new_file f = {REGISTRY_PAYLOAD_FILE, FILE_MODE, "DOCKER_CONFIG", true};
	AUTO(secret) content = {.p = NULL};

	if (!wanted(d, f.variable))
		return DELIVER_FILTERED;
	if (registry_payload_config(d->payload, &d->grant->constraints.registries, &content, err) <
		0)
		return -1;
	return add_file(d, &f, &content, err);
}

int deliver_kubeconfig(const struct delivery *d, struct error *err)
{
	const struct new_file f = {KUBECONFIG_FILE, FILE_MODE, "KUBECONFIG", false};
	const struct grant_constraints *c = &d->grant->constraints;
	AUTO(secret) content = {.p = NULL};

	if (!wanted(d, f.variable))
		return DELIVER_FILTERED;
	if (kubeconfig_select(d->payload, &c->contexts, &c->namespaces, &content, err) < 0)
		return -1;
	return add_file(d, &f, &content, err);
}
