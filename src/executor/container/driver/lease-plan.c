#include "executor/container/driver/lease-plan.h"

#include <assert.h>

#include "base/mem.h"
#include "egress/proxy-env.h"
#include "executor/container/validate.h"
#include "sys/file.h"
#include "vault/material.h"

static_assert((int)MATERIAL_FILES_MAX <= (int)PLAN_LEASE_FILES_MAX &&
		      (int)MATERIAL_FILES_MAX <= (int)LAUNCH_FILES_MAX &&
		      (int)MATERIAL_BINDINGS_MAX <= (int)PLAN_LEASE_BINDINGS_MAX,
	"what the vault makes fits into a plan");

enum { MODE_TEXT_SIZE = 16 };

bool lease_plan_has_files(const struct material *m)
{
	return m && m->n_files > 0;
}

int lease_plan_check(const struct material *m, struct error *err)
{
	struct secret_file files[MATERIAL_FILES_MAX];
	char modes[MATERIAL_FILES_MAX][MODE_TEXT_SIZE];

	if (!lease_plan_has_files(m))
		return 0;
	for (size_t i = 0; i < m->n_files; i++) {
		snprintf(modes[i], sizeof(modes[i]), "%04o", (unsigned)m->files[i].mode);
		files[i] = (struct secret_file){
			.dir = text_of(m->dir),
			.name = text_of(m->files[i].name),
			.size = m->files[i].content.len,
			.mode = text_of(modes[i]),
		};
	}
	return validate_secret_files(files, m->n_files, err);
}

static int add_binding(const struct material_binding *from, struct plan_lease *l)
{
	struct plan_binding *b =
		plan_lease_add_binding(l, from->grant, secret_kind_text(from->kind));

	return b && strv_add_all(&b->files, &from->files) == 0 &&
			       strv_add_all(&b->env_keys, &from->env_keys) == 0
		       ? 0
		       : -1;
}

/* The session, and what of the run's environment holds its token. */
static int fill_egress(const struct material *m, struct plan *plan, struct error *err)
{
	static const char *const names[] = {
		"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "NO_PROXY", "no_proxy"};
	int r = 0;

	if (!m->egress)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (proxy_env_is_secret(names[i]) && !strv_has(&plan->redact, names[i]))
			r |= strv_add(&plan->redact, names[i]);
	if (!plan_lease_add_binding(&plan->lease, m->egress->grant.id, "egress") || r)
		return error_set(err, ERROR_INTERNAL, "a session brings more than a plan can hold");
	return plan_egress_set(&plan->egress, m->egress, err);
}

int lease_plan_fill(
	const struct material *m, const char *stage, struct plan *plan, struct error *err)
{
	struct plan_lease *l = &plan->lease;
	int r = 0;

	if (!m || !m->lease[0])
		return 0;
	l->id = mem_strdup(m->lease);
	l->expires_at = m->expires_at;
	l->hard_end = m->hard_end;
	l->lasting = m->lasting;
	if (stage) {
		l->dir = mem_strdup(m->dir);
		l->stage = mem_strdup(stage);
	}
	for (size_t i = 0; i < m->n_files; i++)
		r |= plan_lease_add_file(l, m->files[i].name, m->files[i].mode);
	for (size_t i = 0; i < m->n_bindings; i++)
		r |= add_binding(&m->bindings[i], l);
	for (size_t i = 0; i < m->n_variables; i++)
		if (m->variables[i].sensitive && !strv_has(&plan->redact, m->variables[i].name))
			r |= strv_add(&plan->redact, m->variables[i].name);
	if (r)
		return error_set(err, ERROR_INTERNAL, "a lease brings more than a plan can hold");
	return fill_egress(m, plan, err);
}

int lease_plan_contents(const struct material *m, struct launch *launch, struct error *err)
{
	struct text pieces[MATERIAL_FILES_MAX];
	struct secret whole = {.p = NULL};

	for (size_t i = 0; i < m->n_files; i++) {
		pieces[i] = secret_text(&m->files[i].content);
		launch->file_sizes[launch->n_files++] = pieces[i].len;
	}
	secret_concat(pieces, m->n_files, &whole);
	int fd = file_memfd("secrets", secret_text(&whole), err);
	secret_done(&whole);
	return fd;
}
