/* Grants: minted, listed, and matched with a run (disk-and-secrets.md §12, §14, §15, §17). */
#include "unit/sys/unit-dir.h"

#include "base/json.h"
#include "store/secret.h"
#include "store/store.h"
#include "vault/grant-constraint.h"
#include "vault/grant.h"
#include "vault/offer.h"
#include "vault/vault.h"

enum { T = 1700000000 };
static const struct two_clocks at_start = {T, 1000, TEXT("boot")};

static void mint(struct store *s, const char *name, const char *kind, char *owner)
{
	auto_error struct error err = ERROR_INIT;
	char id[VAULT_SECRET_ID_SIZE];
	struct store_secret row = {.name = (char *)(uintptr_t)name,
		.kind = (char *)(uintptr_t)kind,
		.owner = owner,
		.created_by = (char *)"me"};

	assert_done(vault_mint(s, path, &row, TEXT("value"), id, &err), &err);
}

static int grant(struct store *s, const char *secret, const char *subject, const char *constraints,
	struct error *err)
{
	auto_json *ret = NULL;
	auto_json *object = json_loads(constraints, 0, NULL);
	struct grant_request r = {.secret = secret,
		.subject = text_of(subject),
		.constraints = object,
		.ttl = 3600,
		.actor = "me"};

	return grant_make(s, &r, &at_start, &ret, err);
}

static void test_refusals(void **state)
{
	(void)state;
	static char somebody[] = "somebody", me[] = "me";
	static const struct {
		const char *secret, *subject, *constraints;
		enum error_code code;
	} cases[] = {
		{"token", "any", "{}", ERROR_NONE},
		{"token", "any", "{\"env_keys\":[\"A\"]}", ERROR_NONE},
		{"nothing", "any", "{}", ERROR_SECRET_NOT_FOUND},
		{"token", "everybody", "{}", ERROR_GRANT_SUBJECT_INVALID},
		{"token", "any", "{\"devices\":[\"a\"]}", ERROR_GRANT_CONSTRAINT_KIND},
		{"token", "any", "{\"verbs\":[\"a\"]}", ERROR_GRANT_CONSTRAINT_UNKNOWN},
		{"lab", "any", "{}", ERROR_GRANT_CONSTRAINT_MISSING},
		{"lab", "any", "{\"devices\":[\"/dev/x\"]}", ERROR_GRANT_CONSTRAINT_INVALID},
		{"theirs", "project:/p", "{}", ERROR_SECRET_NOT_OWNER},
		{"mine", "any", "{}", ERROR_SECRET_NOT_OWNER},
		{"mine", "project:*", "{}", ERROR_SECRET_NOT_OWNER},
		{"mine", "project:/p", "{}", ERROR_NONE},
	};
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;
	auto_json *list = json_array();
	struct grant_filter all = {.all = true};

	assert_done(store_open(path, &s, &err), &err);
	mint(s, "token", "env", NULL);
	mint(s, "lab", "host_device", NULL);
	mint(s, "theirs", "env", somebody);
	mint(s, "mine", "env", me);
	size_t made = 0;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_error struct error one = ERROR_INIT;
		(void)!grant(s, cases[i].secret, cases[i].subject, cases[i].constraints, &one);
		if (one.code != cases[i].code)
			fail_msg("case %zu: %s %s", i, error_code_text(one.code), one.message);
		made += cases[i].code == ERROR_NONE;
	}
	assert_done(grant_list(s, &all, &at_start, list, &err), &err);
	assert_int_equal(json_array_size(list), made);
}

/* The value and its rule are named. */
static void test_words(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO(grant_constraints) c = {.writable = false};
	auto_json *object = json_loads("{\"devices\":[\"a\",\"/dev/x\"]}", 0, NULL);

	assert_int_equal(grant_constraints_read(SECRET_HOST_DEVICE, object, &c, &err), -1);
	assert_int_equal(err.code, ERROR_GRANT_CONSTRAINT_INVALID);
	assert_string_equal(err.message,
		"constraint \"devices[1]\" is \"/dev/x\", which is not valid: 1 to 64 letters, "
		"digits and . _ -, a letter or digit first");
	assert_string_equal(json_get_string(err.details, "key"), "devices[1]");
}

static size_t listed(struct store *s, struct grant_filter f, struct two_clocks now)
{
	auto_error struct error err = ERROR_INIT;
	auto_json *list = json_array();

	assert_done(grant_list(s, &f, &now, list, &err), &err);
	return json_array_size(list);
}

static void test_lists(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;
	struct two_clocks later = {T + 3600, 3601000, TEXT("boot")};
	struct two_clocks set_back = {T - 86400, 3601000, TEXT("boot")};

	assert_done(store_open(path, &s, &err), &err);
	mint(s, "a", "env", NULL);
	mint(s, "b", "env", NULL);
	assert_done(grant(s, "a", "any", "{}", &err), &err);
	assert_done(grant(s, "b", "project:/x//y/", "{}", &err), &err);
	assert_int_equal(listed(s, (struct grant_filter){0}, at_start), 2);
	assert_int_equal(listed(s, (struct grant_filter){.secret = "a"}, at_start), 1);
	assert_int_equal(
		listed(s, (struct grant_filter){.subject = TEXT("project:/x/y")}, at_start), 1);
	assert_int_equal(listed(s, (struct grant_filter){0}, later), 0);
	assert_int_equal(listed(s, (struct grant_filter){.all = true}, later), 2);
	/* A clock that is set back brings nothing to life again. */
	assert_int_equal(listed(s, (struct grant_filter){0}, set_back), 0);
}

static void offered(struct store *s, const char *project, struct two_clocks now, struct offer *ret)
{
	auto_error struct error err = ERROR_INIT;
	struct subject_who who = {.project = text_of(project), .executor = TEXT("container")};

	assert_done(offer_load(s, &who, &now, ret, &err), &err);
}

static void test_offers(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;
	AUTO(offer) mine = OFFER_INIT;
	AUTO(offer) other = OFFER_INIT;
	AUTO(offer) late = OFFER_INIT;
	AUTO(offer) long_after = OFFER_INIT;
	AUTO(strv) names = STRV_INIT(8);

	assert_done(store_open(path, &s, &err), &err);
	mint(s, "a", "env", NULL);
	mint(s, "lab", "host_device", NULL);
	assert_done(grant(s, "a", "project:/p", "{}", &err), &err);
	assert_done(
		grant(s, "lab", "executor:container", "{\"devices\":[\"x\",\"y\"]}", &err), &err);
	assert_done(grant(s, "lab", "any", "{\"devices\":[\"y\",\"z\"]}", &err), &err);

	offered(s, "/p", at_start, &mine);
	assert_int_equal(mine.n, 3);
	assert_true(offer_has(&mine, SECRET_ENV));
	assert_false(offer_has(&mine, SECRET_FILE));
	assert_done(offer_names(&mine, SECRET_HOST_DEVICE, &names), &err);
	assert_int_equal(names.n, 3);
	offered(s, "/q", at_start, &other);
	assert_int_equal(other.n, 2);
	assert_false(offer_has(&other, SECRET_ENV));

	/* Over, but said for a day. */
	offered(s, "/p", (struct two_clocks){T + 3600, 3601000, TEXT("boot")}, &late);
	assert_int_equal(late.n, 3);
	assert_int_equal(late.v[0].verdict, LEASE_EXPIRED);
	assert_false(offer_has_any(&late));
	offered(s, "/p",
		(struct two_clocks){T + 3600 + OFFER_DENIED_SECONDS, 3601000, TEXT("boot")},
		&long_after);
	assert_int_equal(long_after.n, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		IN_DIR(test_refusals),
		IN_DIR(test_words),
		IN_DIR(test_lists),
		IN_DIR(test_offers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
