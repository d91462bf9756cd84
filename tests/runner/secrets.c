/* The kinds of area secrets that judge (disk-and-secrets.md §12, §14, §15, §17, §18). */
#include "runner/case.h"

#include "base/mem.h"
#include "vault/grant-constraint.h"
#include "vault/lease-judge.h"
#include "vault/revocation.h"
#include "vault/secret-name.h"
#include "vault/subject.h"
#include "vault/ttl.h"

enum { LIST_MAX = 1024 };

static json_t *error_json(const struct error *err)
{
	return json_pack("{s:s}", "error", error_code_text(err->code));
}

/* ---- subject ---- */

static void run_subject(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(subject) s = {.text = NULL};
	struct subject_label labels[SUBJECT_LABELS_MAX * 4];
	json_t *who_json = json_object_get(c, "who"), *value;
	struct subject_who who = {.project = json_get_text(who_json, "project"),
		.executor = json_get_text(who_json, "executor"),
		.labels = labels};
	const char *key;

	json_object_foreach(json_object_get(who_json, "labels"), key, value)
	{
		if (who.n_labels < ARRAY_SIZE(labels))
			labels[who.n_labels++] =
				(struct subject_label){text_of(key), json_text(value)};
	}
	if (subject_parse(json_get_text(c, "subject"), &s, &err) < 0)
		case_exact(r, c, error_json(&err));
	else
		case_exact(r, c, json_boolean(subject_matches(&s, &who)));
}

/* ---- ttl, secret_name ---- */

static void run_ttl(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	int64_t seconds;

	if (ttl_parse(json_get_text(c, "text"), &seconds, &err) < 0)
		case_exact(r, c, error_json(&err));
	else
		case_exact(r, c, json_pack("{s:I}", "seconds", (json_int_t)seconds));
}

static void run_secret_name(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	bool good = secret_name_check(json_get_text(c, "text"), &err) == 0;

	case_exact(r, c, json_string(good ? "ok" : error_code_text(err.code)));
}

/* ---- constraints ---- */

static void run_constraints(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(grant_constraints) parsed = {.writable = false};
	enum secret_kind kind;

	if (secret_kind_parse(json_get_text(c, "secret_kind"), &kind, &err) < 0) {
		error_add_detail(&err, "key", json_string("kind"));
	} else if (grant_constraints_read(kind, json_object_get(c, "constraints"), &parsed, &err) ==
		   0) {
		auto_free char *summary = grant_constraints_summary(&parsed);
		case_exact(r, c, json_pack("{s:b, s:s}", "ok", 1, "summary", summary));
		return;
	}
	json_t *got = error_json(&err);
	json_object_set(got, "key", json_object_get(err.details, "key"));
	case_exact(r, c, got);
}

/* ---- lease ---- */

static json_t *time_json(int64_t t)
{
	return t == LEASE_NEVER ? json_null() : json_integer((json_int_t)t);
}

static void run_lease(json_t *c, struct case_result *r)
{
	json_t *list = json_object_get(c, "grants"), *granted = json_array(),
	       *denied = json_array();
	size_t n = json_array_size(list);
	auto_free struct lease_grant *grants = mem_alloc((n + 1) * sizeof(*grants));
	auto_free enum lease_verdict *verdicts = mem_alloc((n + 1) * sizeof(*verdicts));
	struct lease_clock clock = {json_get_int(c, "now", 0), json_get_int(c, "window_s", 0)};
	struct lease_life life;

	for (size_t i = 0; i < n; i++) {
		json_t *g = json_array_get(list, i);
		grants[i].expires_at = json_get_int(g, "expires_at", LEASE_NEVER);
		grants[i].revoked = json_is_integer(json_object_get(g, "revoked_at"));
		grants[i].fails = !json_get_bool(g, "constraint_ok", true);
	}
	lease_judge(grants, n, clock, verdicts, &life);
	for (size_t i = 0; i < n; i++) {
		const char *id = json_get_string(json_array_get(list, i), "id");
		if (verdicts[i] == LEASE_GRANTED)
			json_array_append_new(granted, json_string(id));
		else
			json_array_append_new(denied, json_pack("{s:s, s:s}", "id", id, "reason",
							      lease_verdict_text(verdicts[i])));
	}
	case_exact(r, c,
		json_pack("{s:o, s:o, s:o, s:o}", "granted", granted, "denied", denied,
			"expires_at", time_json(life.expires_at), "hard_end",
			time_json(life.hard_end)));
}

/* ---- revocation ---- */

static void run_revoke_action(json_t *c, struct case_result *r)
{
	json_t *list = json_object_get(c, "bindings");
	size_t n = json_array_size(list);
	auto_free struct revocation_binding *b = mem_alloc((n + 1) * sizeof(*b));
	int requested = revocation_action_from_text(json_get_text(c, "requested"));

	for (size_t i = 0; i < n; i++) {
		json_t *given = json_array_get(list, i);
		b[i].kind = json_get_text(given, "kind");
		b[i].has_env = json_array_size(json_object_get(given, "env_keys")) > 0;
	}
	enum revocation_action action = revocation_action(
		b, n, requested < 0 ? REVOCATION_SCRUB : (enum revocation_action)requested);
	case_exact(r, c, json_string(revocation_action_text(action)));
}

static void run_revoke_state(json_t *c, struct case_result *r)
{
	json_t *list = json_object_get(c, "runs");
	size_t n = json_array_size(list);
	auto_free enum revocation_run *runs = mem_alloc((n + 1) * sizeof(*runs));
	size_t unrecorded = (size_t)json_get_int(c, "unrecorded", 0);

	for (size_t i = 0; i < n; i++) {
		int word = revocation_run_from_text(json_text(json_array_get(list, i)));
		if (word < 0) {
			case_exact(r, c, json_string("unknown word"));
			return;
		}
		runs[i] = (enum revocation_run)word;
	}
	case_exact(r, c,
		json_pack("{s:s, s:b}", "state",
			revocation_state_text(revocation_state(runs, n, unrecorded)), "known",
			n > 0));
}

static const char *const subject_fields[] = {"subject", "who", NULL};
static const char *const text_fields[] = {"text", NULL};
static const char *const constraints_fields[] = {"secret_kind", "constraints", NULL};
static const char *const lease_fields[] = {"now", "window_s", "grants", NULL};
static const char *const action_fields[] = {"bindings", "requested", NULL};
static const char *const state_fields[] = {"runs", "unrecorded", NULL};

const struct case_kind case_secrets_kinds[] = {
	{"subject", subject_fields, run_subject},
	{"ttl", text_fields, run_ttl},
	{"secret_name", text_fields, run_secret_name},
	{"constraints", constraints_fields, run_constraints},
	{"lease", lease_fields, run_lease},
	{"revoke_action", action_fields, run_revoke_action},
	{"revoke_state", state_fields, run_revoke_state},
	{0},
};
