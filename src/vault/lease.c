#include "vault/lease.h"

#include <assert.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "store/secret.h"
#include "vault/deliver.h"
#include "vault/fresh-id.h"
#include "vault/vault.h"

/* One lease in the making. */
struct making {
	const struct lease_question *q;
	struct material *material;
	struct vault *vault; /* opened for the first payload */
	json_t *report;
	struct lease_grant granted[OFFER_GRANTS_MAX];
	size_t n_granted;
};

static void making_done(struct making *m)
{
	vault_free(m->vault);
}

/* ---- What is said of each grant ---- */

static json_t *say(struct making *m, const char *list, const struct offer_grant *g)
{
	json_t *entry = json_pack("{s:s, s:o, s:s, s:o}", "grant", g->id, "secret",
		json_from_string(g->name), "kind", secret_kind_text(g->kind), "subject",
		json_from_string(g->subject));

	json_array_append_new(json_object_get(m->report, list), entry);
	return entry;
}

static void deny(struct making *m, const struct offer_grant *g, enum lease_verdict verdict,
	const struct error *why)
{
	json_t *entry = say(m, "denied", g);

	json_object_set_new(entry, "reason", json_string(lease_verdict_text(verdict)));
	if (!why)
		return;
	json_object_set_new(entry, "code", json_string(error_code_text(why->code)));
	json_object_set_new(entry, "message", json_from_string(why->message));
}

static void say_binding(json_t *entry, const struct material *m, const char *grant)
{
	for (size_t i = 0; i < m->n_bindings; i++) {
		const struct material_binding *b = &m->bindings[i];
		if (strcmp(b->grant, grant) != 0)
			continue;
		json_object_set_new(entry, "files", json_from_strings(b->files.v, b->files.n));
		json_object_set_new(entry, "env", json_from_strings(b->env_keys.v, b->env_keys.n));
	}
}

/* ---- One grant ---- */

/* Failures of this grant; any other is one of the whole lease. */
static const enum error_code of_one_grant[] = {ERROR_SECRET_PAYLOAD_INVALID,
	ERROR_GRANT_CONSTRAINT_UNKNOWN, ERROR_GRANT_CONSTRAINT_KIND, ERROR_GRANT_CONSTRAINT_MISSING,
	ERROR_GRANT_CONSTRAINT_INVALID, ERROR_SECRET_NOT_FOUND, ERROR_SECRET_DUPLICATE,
	ERROR_SECRET_NAME_INVALID, ERROR_DEVICE_NONE, ERROR_LOCAL_REPO_NONE,
	ERROR_LOCAL_REPO_TOO_MANY, ERROR_REGISTRY_NONE};
/* … and what the host says of a device. */
static const enum error_code of_the_host[] = {ERROR_DEVICE_MISSING, ERROR_DEVICE_OUTSIDE_DEV,
	ERROR_DEVICE_NOT_A_NODE, ERROR_DEVICE_BLOCK_NOT_GRANTED, ERROR_DEVICE_IN_USE,
	ERROR_DEVICE_FORBIDDEN};

static bool one_of(enum error_code code, const enum error_code *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] == code)
			return true;
	return false;
}

static bool is_denial(const struct making *m, const struct error *err)
{
	return one_of(err->code, of_one_grant, ARRAY_SIZE(of_one_grant)) ||
	       (m->q->dry && one_of(err->code, of_the_host, ARRAY_SIZE(of_the_host)));
}

static int read_payload(
	struct making *m, const struct offer_grant *g, struct locked *ret, struct error *err)
{
	enum secret_kind kind = SECRET_KIND_COUNT;

	if (!m->vault) {
		int r = vault_open(m->q->store, m->q->home, &m->vault, err);
		if (r > 0)
			return error_set(err, ERROR_SECRET_KEY_STATE,
				"there are secrets, and no key that seals them");
		if (r < 0)
			return -1;
	}
	if (vault_read(m->vault, g->secret, &kind, ret, err) < 0)
		return -1;
	if (kind != g->kind)
		return error_set(err, ERROR_SECRET_STORE, "secret %s is not of the granted kind",
			quoted_string(g->name));
	return 0;
}

static int deliver(struct making *m, const struct offer_grant *g, struct error *err)
{
	AUTO(store_secret) secret = STORE_SECRET_INIT;
	AUTO(locked) payload = LOCKED_INIT;

	int r = store_secret_find_id(m->q->store, g->secret, &secret, err);
	if (r > 0)
		return error_set(err, ERROR_SECRET_NOT_FOUND, "secret %s was deleted",
			quoted_string(g->name));
	if (r < 0 || read_payload(m, g, &payload, err) < 0)
		return -1;
	struct delivery d = {
		.material = m->material,
		.spec = m->q->spec,
		.grant = g,
		.secret = &secret,
		.payload = locked_text(&payload),
	};
	return deliver_grant(&d, err);
}

static int take(struct making *m, const struct offer_grant *g, struct error *err)
{
	auto_error struct error why = ERROR_INIT;

	if (g->verdict != LEASE_GRANTED) {
		deny(m, g, g->verdict, NULL);
		return 0;
	}
	int r = deliver(m, g, &why);
	if (r > 0) {
		say(m, "filtered", g);
		return 0;
	}
	if (r < 0 && !is_denial(m, &why)) {
		error_prefix(&why, "grant %s of secret %s", g->id, quoted_string(g->name));
		error_move(err, &why);
		return -1;
	}
	if (r < 0) {
		deny(m, g, LEASE_CONSTRAINT, &why);
		return 0;
	}
	say_binding(say(m, "granted", g), m->material, g->id);
	m->granted[m->n_granted++] = (struct lease_grant){.expires_at = g->expires_at};
	return 0;
}

/* ---- All of them ---- */

static int finish(struct making *m, struct error *err)
{
	enum lease_verdict verdicts[OFFER_GRANTS_MAX];
	struct lease_clock clock = {m->q->now->realtime, LEASE_WINDOW};
	struct lease_life life;
	struct material *out = m->material;

	if (m->n_granted == 0)
		return 0;
	lease_judge(m->granted, m->n_granted, clock, verdicts, &life);
	out->expires_at = life.expires_at;
	out->hard_end = life.hard_end == LEASE_NEVER ? 0 : life.hard_end;
	return fresh_id("lease_", out->lease, sizeof(out->lease), err) < 0
		       ? -1
		       : deliver_notes(out, err);
}

static int make(struct making *m, struct error *err)
{
	for (size_t i = 0; i < m->q->offer->n; i++)
		if (take(m, &m->q->offer->v[i], err) < 0)
			return -1;
	return finish(m, err);
}

int lease_make(const struct lease_question *q, struct material *ret, json_t **ret_report,
	struct error *err)
{
	AUTO(making) m = {.q = q, .material = ret};

	m.report = json_pack("{s:[], s:[], s:[]}", "granted", "denied", "filtered");
	if (make(&m, err) < 0) {
		json_decref(m.report);
		material_done(ret);
		return -1;
	}
	*ret_report = m.report;
	return 0;
}

/* ---- Names ---- */

static json_t *variable_names(const struct material *m)
{
	json_t *list = json_array();

	for (size_t i = 0; i < m->n_variables; i++)
		json_array_append_new(list, json_from_string(m->variables[i].name));
	return list;
}

static json_t *file_names(const struct material *m)
{
	json_t *list = json_array();
	char mode[8];

	for (size_t i = 0; i < m->n_files; i++) {
		snprintf(mode, sizeof(mode), "%04o", (unsigned)m->files[i].mode & 07777);
		json_array_append_new(
			list, json_pack("{s:o, s:s}", "name", json_from_string(m->files[i].name),
				      "mode", mode));
	}
	return list;
}

static json_t *device_names(const struct material *m)
{
	json_t *list = json_array();

	for (size_t i = 0; i < m->n_devices; i++)
		json_array_append_new(
			list, json_pack("{s:o, s:o, s:o, s:s}", "name",
				      json_from_string(m->devices[i].name), "source",
				      json_from_string(m->devices[i].source), "target",
				      json_from_string(m->devices[i].target), "mode",
				      m->devices[i].mode));
	return list;
}

static json_t *interface_names(const struct material *m)
{
	json_t *list = json_array();

	for (size_t i = 0; i < m->n_interfaces; i++)
		json_array_append_new(
			list, json_pack("{s:o, s:o, s:o}", "name",
				      json_from_string(m->interfaces[i].name), "source",
				      json_from_string(m->interfaces[i].source), "target",
				      json_from_string(m->interfaces[i].target)));
	return list;
}

static json_t *repo_names(const struct material *m)
{
	json_t *list = json_array();

	for (size_t i = 0; i < m->n_repos; i++)
		json_array_append_new(list,
			json_pack("{s:o, s:o, s:b}", "name", json_from_string(m->repos[i].name),
				"source", json_from_string(m->repos[i].source), "writable",
				m->repos[i].writable));
	return list;
}

json_t *lease_names(const struct material *m)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "env", variable_names(m), "files",
		file_names(m), "devices", device_names(m), "interfaces", interface_names(m),
		"repos", repo_names(m));
}
