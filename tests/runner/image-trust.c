/* Kinds of what follows from a verdict: pins, logins, signatures, labels. */
#include "runner/case.h"

#include "base/mem.h"
#include "image/auth.h"
#include "image/challenge.h"
#include "image/cosign-argv.h"
#include "image/fingerprint.h"
#include "image/harness.h"
#include "image/outcome.h"
#include "image/provenance.h"
#include "runner/judged.h"

static json_t *error_answer(const struct error *err)
{
	return json_pack("{s:s}", "error", error_code_text(err->code));
}

static void run_pin_outcome(json_t *c, struct case_result *r)
{
	struct image_policy p = {
		.govern_operator_images = json_get_bool(c, "govern", false),
		.require_digest = json_get_bool(c, "require_digest", false),
		.require_signature = json_get_bool(c, "require_signature", false),
	};
	int origin = image_origin_from_text(json_get_text(c, "origin"));
	int result = pin_result_from_text(json_get_text(c, "result"));

	if (origin < 0 || result < 0)
		return;
	struct pin_outcome o =
		pin_outcome_of(&p, (enum image_origin)origin, (enum pin_result)result);
	case_subset(r, c,
		json_pack("{s:s, s:s, s:b}", "action", pin_action_text(o.action), "rule",
			image_rule_text(o.rule), "verify", o.verify));
}

static void run_challenge(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(challenge) challenge = {.realm = NULL};
	json_t *headers = json_object_get(c, "headers"), *line;
	auto_free struct text *lines = mem_alloc(json_array_size(headers) * sizeof(*lines));
	size_t i;

	json_array_foreach(headers, i, line) lines[i] = json_text(line);
	if (challenge_choose(lines, json_array_size(headers), &challenge, &err) < 0) {
		case_subset(r, c, error_answer(&err));
		return;
	}
	json_t *got = json_pack("{s:s}", "scheme", challenge_scheme_text(challenge.scheme));
	if (challenge.scheme == CHALLENGE_BEARER) {
		json_object_set_new(got, "realm", json_from_string(challenge.realm));
		json_object_set_new(got, "service", json_from_string(challenge.service));
	}
	case_subset(r, c, got);
}

static void run_auth(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(auth_login) login = {.key = NULL};
	struct image_reference image;
	int found = image_reference_parse(json_get_text(c, "image"), &image, &err);

	if (found == 0)
		found = auth_find(
			json_object_get(c, "auth_json"), "auth.json", &image, &login, &err);
	if (found < 0) {
		case_subset(r, c, error_answer(&err));
	} else if (found == AUTH_NO_LOGIN) {
		case_exact(r, c, json_null());
	} else {
		json_t *got = json_pack("{s:s, s:s}", "key", login.key, "user", login.user);
		if (login.identity_token.p)
			json_object_set_new(got, "identity_token", json_true());
		case_subset(r, c, got);
	}
}

/* The rule that refuses the image before cosign is called, or NULL. */
static const char *refusal(const struct judged *j, json_t *c, struct image_verdict *v)
{
	if (j->errors.n > 0)
		return image_rule_text(IMAGE_RULE_POLICY_CONFIGURATION);
	image_verdict(&j->policy, IMAGE_ORIGIN_PROJECT, json_get_text(c, "ref"), v);
	return v->allowed ? NULL : image_rule_text(v->rule);
}

static void run_cosign(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(judged) j;
	AUTO(cosign_attempts) attempts = {.n = 0};
	struct image_verdict v;

	judged_policy(c, &j);
	const char *rule = refusal(&j, c, &v);
	if (!rule && cosign_argv_build(&j.policy, &v.ref, &attempts, &err) < 0)
		rule = image_rule_text(IMAGE_RULE_SIGNATURE_REQUIRED);
	if (rule) {
		case_subset(r, c, json_pack("{s:s}", "error", rule));
		return;
	}
	json_t *argvs = json_array();
	for (size_t i = 0; i < attempts.n; i++)
		json_array_append_new(
			argvs, json_from_strings(attempts.argv[i].v, attempts.argv[i].n));
	case_subset(r, c, json_pack("{s:o}", "argvs", argvs));
}

static void fingerprint(json_t *side, char out[SHA256_HEX_SIZE])
{
	AUTO(judged) j;
	char hashes[POLICY_KEYS_MAX][SHA256_HEX_SIZE];

	judged_policy(side, &j);
	const struct strv *paths = &j.policy.cosign_public_keys.items;
	for (size_t i = 0; i < paths->n; i++) {
		struct text content = json_get_text(json_object_get(side, "keys"), paths->v[i]);
		sha256_hex(content, hashes[i]);
	}
	fingerprint_policy(&j.policy, hashes, out);
}

static void run_fingerprint(json_t *c, struct case_result *r)
{
	char a[SHA256_HEX_SIZE], b[SHA256_HEX_SIZE];

	fingerprint(json_object_get(c, "a"), a);
	fingerprint(json_object_get(c, "b"), b);
	case_subset(r, c, json_pack("{s:b}", "equal", strcmp(a, b) == 0));
}

static void run_provenance(json_t *c, struct case_result *r)
{
	int mode = provenance_mode_from_text(json_get_text(c, "mode"));
	int cosign = provenance_cosign_from_text(json_get_text(c, "cosign"));
	int signature = provenance_signature_from_text(json_get_text(c, "signature"));

	if (mode < 0 || cosign < 0 || signature < 0)
		return;
	struct provenance_question q = {
		.mode = (enum provenance_mode)mode,
		.pinned = json_get_bool(c, "pinned", false),
		.cosign = (enum provenance_cosign)cosign,
		.signature = (enum provenance_signature)signature,
	};
	struct provenance_answer a = provenance_decide(&q);
	case_subset(r, c,
		json_pack("{s:s, s:s}", "action", provenance_action_text(a.action), "state",
			provenance_state_text(a.state)));
}

static void run_harness(json_t *c, struct case_result *r)
{
	AUTO(strv) names = HARNESS_NAMES_INIT;
	enum harness_result result =
		harness_judge(json_get_text(c, "label"), json_get_string(c, "harness"), &names);

	case_subset(r, c,
		json_pack("{s:s, s:o}", "result", harness_result_text(result), "carries",
			json_from_strings(names.v, names.n)));
}

static const char *const pin_outcome_fields[] = {
	"origin", "govern", "require_digest", "require_signature", "result", NULL};
static const char *const challenge_fields[] = {"headers", NULL};
static const char *const auth_fields[] = {"auth_json", "image", NULL};
static const char *const cosign_fields[] = {"policy", "ref", NULL};
static const char *const fingerprint_fields[] = {"a", "b", NULL};
static const char *const provenance_fields[] = {"mode", "pinned", "cosign", "signature", NULL};
static const char *const harness_fields[] = {"label", "harness", NULL};

const struct case_kind case_image_trust_kinds[] = {
	{"pin_outcome", pin_outcome_fields, run_pin_outcome},
	{"challenge", challenge_fields, run_challenge},
	{"auth", auth_fields, run_auth},
	{"cosign", cosign_fields, run_cosign},
	{"fingerprint", fingerprint_fields, run_fingerprint},
	{"provenance", provenance_fields, run_provenance},
	{"harness", harness_fields, run_harness},
	{0},
};
