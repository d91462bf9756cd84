#include "run/run-egress.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "base/json.h"
#include "base/mem.h"
#include "egress/owner.h"
#include "executor/container/plan-egress.h"
#include "run/context.h"
#include "run/decision.h"
#include "sys/clock.h"
#include "vault/clocks-now.h"
#include "vault/fresh-id.h"
#include "vault/time-json.h"

void run_egress_done(struct run_egress *e)
{
	for (size_t i = 0; i < e->n; i++)
		egress_grant_done(&e->held[i].grant);
	free(e->held);
	free(e->facts);
	egress_session_done(&e->session);
	strv_done(&e->lines);
	*e = RUN_EGRESS_INIT;
}

/* ---- Which ones are held ---- */

struct finding {
	const struct subject_who *who;
	struct two_clocks now;
	struct run_egress *ret;
	bool too_many;
};

static void consider(void *data, const struct store_egress_grant *row)
{
	struct finding *f = data;
	struct run_egress *e = f->ret;
	auto_error struct error ignored = ERROR_INIT;
	struct run_egress_grant one = {.expires_at = egress_grants_end(row, &f->now)};

	if (egress_grants_state(row, &f->now) != GRANT_ACTIVE)
		return;
	if (egress_grants_read(row, &one.grant, &ignored) < 0 ||
		!subject_matches(&one.grant.subject, f->who) || e->n == RUN_EGRESS_GRANTS_MAX) {
		f->too_many |= e->n == RUN_EGRESS_GRANTS_MAX;
		egress_grant_done(&one.grant);
		return;
	}
	e->held = mem_grow(e->held, e->n + 1, sizeof(*e->held));
	e->held[e->n++] = one;
}

static void list_facts(struct run_egress *e)
{
	e->facts = mem_alloc((e->n + 1) * sizeof(*e->facts));
	for (size_t i = 0; i < e->n; i++) {
		const struct egress_grant *g = &e->held[i].grant;
		e->facts[i] = (struct apply_grant){.id = g->id,
			.scope = g->scope[0] ? g->scope : NULL,
			.active = true,
			.this_project = true};
	}
}

int run_egress_find(
	struct store *s, const struct run_lease_who *who, struct run_egress *ret, struct error *err)
{
	auto_free struct subject_label *labels = mem_alloc((who->n_labels + 1) * sizeof(*labels));
	struct subject_who subject;
	struct finding f = {.who = &subject, .now = clocks_now(), .ret = ret};

	run_lease_subject(who, labels, &subject);
	if (s && store_egress_grant_list(s, f.now.realtime, consider, &f, err) < 0)
		return -1;
	if (f.too_many) {
		error_set(err, ERROR_OUT_OF_RANGE, "more than %d egress grants match this run",
			RUN_EGRESS_GRANTS_MAX);
		return error_set_remedy(err, "revoke what is not needed: cloop egress list");
	}
	list_facts(ret);
	return 0;
}

const struct run_egress_grant *run_egress_held(const struct run_egress *e, const char *id)
{
	for (size_t i = 0; id && i < e->n; i++)
		if (strcmp(e->held[i].grant.id, id) == 0)
			return &e->held[i];
	return NULL;
}

/* ---- Can it be served? ---- */

int run_egress_judge(const struct context *c, const struct decision *d, struct error *err)
{
	if (!d->run.grant)
		return 0;
	if (!c->config.egress.enabled) {
		error_set(err, ERROR_SANDBOX_EGRESS_UNAVAILABLE,
			"egress grant %s cannot be used: the egress proxy is disabled "
			"(executors.egress.enabled)",
			d->run.grant);
		return error_set_remedy(err, "remove capabilities.network, or let the operator set "
					     "executors.egress.enabled to true");
	}
	if (!egress_owner_installed()) {
		error_set(err, ERROR_SANDBOX_EGRESS_UNAVAILABLE,
			"egress grant %s cannot be used: cloop-egress is not found", d->run.grant);
		return error_set_remedy(err, "install cloop-egress beside cloop-shim, or remove "
					     "capabilities.network");
	}
	if (strcmp(executor_kind(d->executor), "container") == 0)
		return 0;
	error_set(err, ERROR_SANDBOX_EGRESS_UNAVAILABLE,
		"egress grant %s cannot be used: there is no route to the egress proxy from "
		"executor %s (%s)",
		d->run.grant, d->executor->id, executor_kind(d->executor));
	return error_set_remedy(
		err, "bind the project to a container executor, or remove capabilities.network");
}

/* ---- The session ---- */

enum { TOKEN_BYTES = 32 };
#define NS INT64_C(1000000000)

static int make_token(struct egress_session *session, struct error *err)
{
	unsigned char bytes[TOKEN_BYTES];
	char digits[2 * TOKEN_BYTES + 1];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return error_set_errno(err, ERROR_IO, errno, "getting random bytes");
	hex_encode(bytes, sizeof(bytes), digits);
	SECRET_CONCAT(&session->token, text_of(digits));
	sha256_hex(text_of(digits), session->token_sha256);
	explicit_bzero(bytes, sizeof(bytes));
	explicit_bzero(digits, sizeof(digits));
	return 0;
}

static void fill_budget(uint64_t *budget, uint64_t usual)
{
	if (*budget == 0)
		*budget = usual < EGRESS_GRANT_BYTES_MAX ? usual : EGRESS_GRANT_BYTES_MAX;
}

/* A snapshot: what becomes of the grant later changes only how long the session lives. */
static int snapshot(const struct egress_grant *held, const struct egress_settings *settings,
	struct egress_grant *ret, struct error *err)
{
	auto_json *object = egress_grant_to_json(held);
	int64_t longest = (int64_t)settings->max_session_minutes * 60;

	if (egress_grant_read(object, ret, err) < 0)
		return -1;
	ret->expires_at_ns = held->expires_at_ns;
	fill_budget(&ret->max_bytes_up, settings->default_max_bytes_up);
	fill_budget(&ret->max_bytes_down, settings->default_max_bytes_down);
	if (ret->session_ttl_s > longest)
		ret->session_ttl_s = longest;
	return 0;
}

static void make_lines(struct run_egress *e)
{
	const struct egress_grant *g = &e->session.grant;
	AUTO(strv) cidrs = STRV_INIT(EGRESS_GRANT_CIDRS_MAX);
	AUTO(proxy_env) env = {.n = 0};
	char expires[CLOCK_TEXT_SIZE], range[CIDR_TEXT_SIZE];

	clock_format(g->expires_at_ns, expires);
	for (size_t i = 0; i < g->n_cidrs; i++) {
		cidr_text(&g->cidrs[i], range);
		(void)!strv_add(&cidrs, range);
	}
	struct proxy_env_session s = {
		.id = text_of(e->session.id),
		.token = TEXT(""),
		.proxy = {.address = {.family = AF_INET}},
		.grant_id = text_of(g->id),
		.hosts = &g->hosts,
		.cidrs = &cidrs,
		.expires = text_of(expires),
	};
	proxy_env_make(&s, &env);
	e->lines = STRV_INIT(PROXY_ENV_MAX);
	for (size_t i = 0; i < env.n; i++)
		(void)!strv_addf(
			&e->lines, "%s=%s", env.variables[i].name, env.variables[i].value.p);
}

int run_egress_make(struct run_egress *e, const struct egress_settings *settings, const char *grant,
	struct error *err)
{
	const struct run_egress_grant *held = run_egress_held(e, grant);
	struct egress_session *session = &e->session;

	if (!held)
		return 0;
	if (fresh_id("sess_", session->id, sizeof(session->id), err) < 0 ||
		make_token(session, err) < 0 ||
		snapshot(&held->grant, settings, &session->grant, err) < 0)
		return -1;
	session->max_connections = (unsigned)settings->max_connections;
	session->dial_timeout_s = (unsigned)settings->dial_timeout_seconds;
	make_lines(e);
	return 0;
}

json_t *run_egress_to_json(const struct run_egress *e, const char *id)
{
	const struct run_egress_grant *held = run_egress_held(e, id);

	if (!held)
		return json_null();
	return json_pack("{s:s, s:o, s:o, s:o}", "grant", held->grant.id, "subject",
		json_from_string(held->grant.subject.text), "policy",
		egress_grant_to_json(&held->grant), "expires_at", time_json(held->expires_at));
}
