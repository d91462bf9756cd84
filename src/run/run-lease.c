#include "run/run-lease.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "run/decision.h"
#include "run/revoke.h"
#include "store/store.h"
#include "vault/clocks-now.h"
#include "vault/fresh-id.h"
#include "vault/lease-judge.h"
#include "vault/local-repo.h"

void run_lease_done(struct run_lease *l)
{
	for (size_t i = 0; l->lines && i < l->material.n_variables; i++)
		secret_done(&l->lines[i]);
	free(l->lines);
	free(l->home);
	free(l->project);
	free(l->executor);
	strv_done(&l->targets);
	offer_done(&l->offer);
	material_done(&l->material);
	json_decref(l->report);
	*l = RUN_LEASE_INIT;
}

void run_lease_subject(
	const struct run_lease_who *who, struct subject_label *labels, struct subject_who *ret)
{
	*ret = (struct subject_who){
		.project = text_of(who->project),
		.executor = text_of(who->executor),
		.labels = labels,
		.n_labels = who->n_labels,
	};
	for (size_t i = 0; i < who->n_labels; i++)
		labels[i] = (struct subject_label){who->labels[i].key, who->labels[i].value};
}

int run_lease_find(
	struct store *s, const struct run_lease_who *who, struct run_lease *ret, struct error *err)
{
	auto_free struct subject_label *labels = mem_alloc((who->n_labels + 1) * sizeof(*labels));
	struct subject_who subject;

	run_lease_subject(who, labels, &subject);
	mem_set_string(&ret->home, who->home);
	mem_set_string(&ret->project, who->project);
	mem_set_string(&ret->executor, who->executor);
	ret->now = clocks_now();
	if (!s)
		return 0;
	return revoke_is_due(s, &ret->revocations_due, err) < 0
		       ? -1
		       : offer_load(s, &subject, &ret->now, &ret->offer, err);
}

void run_lease_promise(const struct offer *offer, struct run_spec *run)
{
	(void)!offer_names(offer, SECRET_HOST_DEVICE, &run->devices);
	(void)!offer_names(offer, SECRET_HOST_INTERFACE, &run->interfaces);
	run->host_mounts = offer_has(offer, SECRET_LOCAL_REPO);
	run->secret_files = offer_has(offer, SECRET_FILE) || offer_has(offer, SECRET_REGISTRY) ||
			    offer_has(offer, SECRET_KUBECONFIG);
	run->revocation = offer_has_any(offer);
}

/* ---- Making ---- */

static bool has_device(const struct material *m, const char *name)
{
	for (size_t i = 0; i < m->n_devices; i++)
		if (strcmp(m->devices[i].name, name) == 0)
			return true;
	return false;
}

static bool has_interface(const struct material *m, const char *name)
{
	for (size_t i = 0; i < m->n_interfaces; i++)
		if (strcmp(m->interfaces[i].name, name) == 0)
			return true;
	return false;
}

/* What the file names and a grant's list allows, but its secret does not hold. */
static int judge_selection(const struct material *m, const struct schema_list *wanted,
	enum error_code denied, bool (*has)(const struct material *m, const char *name),
	struct error *err)
{
	AUTO(strv) missing = STRV_INIT(wanted->items.n);

	strv_foreach (name, &wanted->items)
		if (!has(m, *name))
			(void)strv_add(&missing, *name);
	if (missing.n == 0)
		return 0;
	auto_free char *names = strv_join(&missing, ",");
	error_set(err, denied, "a grant names %s, and its secret does not bring that",
		quoted_string(names));
	error_set_remedy(err, "see why: cloop secret lease --project DIR");
	return error_add_detail(err, "names", json_from_strings(missing.v, missing.n));
}

static int judge_selections(const struct material *m, const struct decision *d, struct error *err)
{
	const struct spec_capabilities *c = &d->file.spec.capabilities;

	if (!d->file.present)
		return 0;
	if (judge_selection(m, &c->devices, ERROR_SANDBOX_DEVICE_NOT_GRANTED, has_device, err) < 0)
		return -1;
	return judge_selection(
		m, &c->interfaces, ERROR_SANDBOX_INTERFACE_NOT_GRANTED, has_interface, err);
}

int run_lease_make(struct run_lease *l, const struct decision *d, struct error *err)
{
	AUTO_PTR(store) store = NULL;
	struct lease_question q = {
		.home = l->home,
		.offer = &l->offer,
		.spec = d->file.present ? &d->file.spec : NULL,
		.now = &l->now,
	};

	if (l->offer.n == 0)
		return 0;
	if (store_open(l->home, &store, err) < 0)
		return -1;
	q.store = store;
	if (lease_make(&q, &l->material, &l->report, err) < 0)
		return -1;
	return judge_selections(&l->material, d, err);
}

int run_lease_add_egress(
	struct run_lease *l, struct egress_session *session, int64_t ends_at, struct error *err)
{
	struct material *m = &l->material;
	int64_t window = clocks_now().realtime + LEASE_WINDOW;

	if (!m->lease[0]) {
		if (fresh_id("lease_", m->lease, sizeof(m->lease), err) < 0)
			return -1;
		m->expires_at = window;
	}
	if (m->hard_end == 0 || ends_at < m->hard_end)
		m->hard_end = ends_at;
	if (m->expires_at > m->hard_end)
		m->expires_at = m->hard_end;
	m->egress = session;
	return 0;
}

/* ---- The request ---- */

static void fill_env(struct run_lease *l, const struct decision *d,
	struct container_request *request, struct text *env)
{
	const struct material *m = &l->material;

	l->lines = mem_alloc(m->n_variables * sizeof(*l->lines));
	for (size_t i = 0; i < m->n_variables; i++) {
		const struct material_variable *v = &m->variables[i];
		if (strv_has(&d->names, v->name))
			continue;
		SECRET_CONCAT(&l->lines[i], text_of(v->name), TEXT("="), secret_text(&v->value));
		env[request->n_env++] = secret_text(&l->lines[i]);
	}
}

static void fill_repos(struct run_lease *l, struct container_request *request)
{
	const struct material *m = &l->material;

	l->targets = STRV_INIT(MATERIAL_REPOS_MAX);
	for (size_t i = 0; i < m->n_repos; i++) {
		(void)strv_addf(&l->targets, "%s/%s", LOCAL_REPO_ROOT, m->repos[i].name);
		l->repos[i] = (struct request_mount){
			.name = text_of(m->repos[i].name),
			.source = text_of(m->repos[i].source),
			.target = text_of(l->targets.v[i]),
			.read_only = !m->repos[i].writable,
		};
	}
	request->host_mounts = l->repos;
	request->n_host_mounts = m->n_repos;
}

/* In the order of the run spec, which is the file's where it selects. */
static void fill_devices(
	struct run_lease *l, const struct decision *d, struct container_request *request)
{
	const struct material *m = &l->material;

	request->devices = l->devices;
	strv_foreach (name, &d->run.devices)
		for (size_t i = 0; i < m->n_devices; i++) {
			const struct material_device *one = &m->devices[i];
			if (strcmp(one->name, *name) != 0)
				continue;
			l->devices[request->n_devices++] = (struct request_device){
				.name = text_of(one->name),
				.source = text_of(one->source),
				.target = text_of(one->target),
				.permissions = text_of(one->mode),
			};
		}
}

static void fill_interfaces(
	struct run_lease *l, const struct decision *d, struct container_request *request)
{
	const struct material *m = &l->material;

	request->interfaces = l->interfaces;
	strv_foreach (name, &d->run.interfaces)
		for (size_t i = 0; i < m->n_interfaces; i++) {
			const struct material_interface *one = &m->interfaces[i];
			if (strcmp(one->name, *name) != 0)
				continue;
			l->interfaces[request->n_interfaces++] = (struct request_interface){
				.name = text_of(one->name),
				.source = text_of(one->source),
				.target = text_of(one->target),
				.address = text_of(one->address),
				.gateway = text_of(one->gateway),
				.mtu = one->mtu,
			};
		}
}

void run_lease_fill(struct run_lease *l, const struct decision *d,
	struct container_request *request, struct text *env)
{
	fill_env(l, d, request, env);
	fill_repos(l, request);
	fill_devices(l, d, request);
	fill_interfaces(l, d, request);
}

bool run_lease_concerns(const struct run_lease *l)
{
	return l->material.lease[0] || json_array_size(json_object_get(l->report, "denied")) > 0;
}
