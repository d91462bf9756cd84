#include "vault/offer.h"

#include "base/json.h"
#include "base/mem.h"
#include "store/grant.h"

enum { CONSTRAINTS_MAX = 1 << 20 };

static void release(struct offer_grant *g)
{
	free(g->name);
	free(g->subject);
	grant_constraints_done(&g->constraints);
}

void offer_done(struct offer *o)
{
	for (size_t i = 0; i < o->n; i++)
		release(&o->v[i]);
	free(o->v);
	*o = OFFER_INIT;
}

struct loading {
	const struct subject_who *who;
	const struct two_clocks *now;
	struct offer *offer;
	size_t granted, denied;
	bool too_many;
};

/* A row that was not written by us matches nobody. */
static bool matches(const struct store_grant *g, const struct subject_who *who)
{
	auto_error struct error ignored = ERROR_INIT;
	AUTO(subject) subject = {.text = NULL};

	return subject_parse(g->subject, &subject, &ignored) == 0 && subject_matches(&subject, who);
}

/* Its kind and constraints: false, when they do not read. */
static bool read_terms(const struct store_grant *g, struct offer_grant *ret)
{
	auto_error struct error ignored = ERROR_INIT;
	int kind = secret_kind_from_text(g->kind);

	if (kind < 0)
		return false;
	ret->kind = (enum secret_kind)kind;
	auto_json *object = json_read(
		g->constraints, CONSTRAINTS_MAX, "constraints", ERROR_STORE_CORRUPT, &ignored);
	return object &&
	       grant_constraints_read(ret->kind, object, &ret->constraints, &ignored) == 0;
}

static void copy_id(struct text from, char *to, size_t size)
{
	snprintf(to, size, "%.*s", (int)from.len, from.p ? from.p : "");
}

/* Takes it. Of what is denied anyway, the first ones are enough. */
static void keep(struct loading *l, struct offer_grant *one)
{
	struct offer *o = l->offer;
	size_t *count = one->verdict == LEASE_GRANTED ? &l->granted : &l->denied;

	if (*count == OFFER_GRANTS_MAX) {
		l->too_many = l->too_many || one->verdict == LEASE_GRANTED;
		release(one);
		return;
	}
	++*count;
	o->v = mem_grow(o->v, o->n + 1, sizeof(*o->v));
	o->v[o->n++] = *one;
}

static void add(void *data, const struct store_grant *g)
{
	struct loading *l = data;
	struct two_clocks begun = {g->created_at, g->boottime_ms, g->boot_id};

	if (!matches(g, l->who))
		return;
	struct offer_grant one = {
		.name = mem_strndup(g->name.p, g->name.len),
		.subject = mem_strndup(g->subject.p, g->subject.len),
		.expires_at = two_clocks_end(&begun, g->expires_at, l->now),
		.revoked = g->revoked_at != 0,
	};
	copy_id(g->id, one.id, sizeof(one.id));
	copy_id(g->secret, one.secret, sizeof(one.secret));
	struct lease_grant judged = {one.expires_at, one.revoked, !read_terms(g, &one)};
	one.verdict = lease_judge_grant(&judged, l->now->realtime);
	keep(l, &one);
}

static void newest_first(struct offer *o)
{
	for (size_t i = 0; i < o->n / 2; i++) {
		struct offer_grant other = o->v[i];
		o->v[i] = o->v[o->n - 1 - i];
		o->v[o->n - 1 - i] = other;
	}
}

int offer_load(struct store *s, const struct subject_who *who, const struct two_clocks *now,
	struct offer *ret, struct error *err)
{
	struct loading l = {.who = who, .now = now, .offer = ret};

	if (store_grant_list_since(s, now->realtime - OFFER_DENIED_SECONDS, add, &l, err) < 0)
		return -1;
	if (l.too_many) {
		error_set(err, ERROR_OUT_OF_RANGE, "more than %d grants match this run",
			OFFER_GRANTS_MAX);
		return error_set_remedy(err, "revoke what is not needed: cloop secret grants");
	}
	newest_first(ret);
	return 0;
}

bool offer_has(const struct offer *o, enum secret_kind kind)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->v[i].verdict == LEASE_GRANTED && o->v[i].kind == kind)
			return true;
	return false;
}

bool offer_has_any(const struct offer *o)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->v[i].verdict == LEASE_GRANTED)
			return true;
	return false;
}

int offer_names(const struct offer *o, enum secret_kind kind, struct strv *ret)
{
	for (size_t i = 0; i < o->n; i++) {
		const struct offer_grant *g = &o->v[i];
		if (g->verdict != LEASE_GRANTED || g->kind != kind)
			continue;
		const struct strv *names = kind == SECRET_HOST_DEVICE ? &g->constraints.devices
								      : &g->constraints.interfaces;
		strv_foreach (name, names)
			if (!strv_has(ret, *name) && strv_add(ret, *name) < 0)
				return -1;
	}
	return 0;
}

json_t *offer_to_json(const struct offer *o)
{
	json_t *list = json_array();

	for (size_t i = 0; i < o->n; i++) {
		const struct offer_grant *g = &o->v[i];
		auto_free char *constraints = grant_constraints_summary(&g->constraints);
		json_array_append_new(
			list, json_pack("{s:s, s:o, s:s, s:o, s:o, s:s}", "grant", g->id, "secret",
				      json_from_string(g->name), "kind", secret_kind_text(g->kind),
				      "subject", json_from_string(g->subject), "constraints",
				      json_from_string(constraints), "result",
				      lease_verdict_text(g->verdict)));
	}
	return list;
}
