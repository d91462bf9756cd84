#include "unit/unit.h"

#include "base/mem.h"
#include "run/doctor-images.h"

#define DIGEST "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define POLICY(keys) "sandbox: {image_policy: {" keys "}}\n"
#define NO_CONTAINER "executors: {container: {enabled: false}}\n"
#define REQUIRED(container) "executors: {image_provenance: required, container: {" container "}}\n"

/* A configuration of this text, with its warnings; the caller releases both. */
static void parse(const char *yaml, struct config *c, struct problems *warnings)
{
	AUTO(problems) errors = PROBLEMS_INIT(PROBLEMS_ERRORS_MAX);

	*warnings = PROBLEMS_INIT(PROBLEMS_WARNINGS_MAX);
	if (config_parse(text_of(yaml), c, &errors, warnings) != 0)
		fail_msg("%s: %s", yaml, errors.v[0].message);
}

/* Each finding holds its words, in that order, and all have this level. */
static void check(const char *yaml, const struct preflight_report *r, enum preflight_level level,
	const char *const *words)
{
	size_t n = 0;

	for (; words[n]; n++) {
		if (n >= r->n)
			fail_msg("%s: nothing says %s", yaml, words[n]);
		if (r->v[n].level != level || !strstr(r->v[n].message, words[n]))
			fail_msg("%s: %s, not %s", yaml, r->v[n].message, words[n]);
		assert_int_equal(level == PREFLIGHT_OK, r->v[n].fix[0] == '\0');
	}
	if (r->n != n)
		fail_msg("%s: %s", yaml, r->v[n].message);
}

static void test_policy(void **state)
{
	static const struct {
		const char *yaml;
		enum preflight_level level;
		const char *words[4];
	} rows[] = {
		{"", PREFLIGHT_WARN, {"no rule is set: sandboxes"}},
		{NO_CONTAINER, PREFLIGHT_OK, {"no executor runs images"}},
		{POLICY("allowed_registries: [ghcr.io, quay.io]"), PREFLIGHT_OK,
			{"2 registries, 0 repositories"}},
		{POLICY("allowed_repos: [ghcr.io/acme/app]"), PREFLIGHT_OK, {"1 repositories"}},
		{POLICY("allowed_registries: []"), PREFLIGHT_WARN,
			{"no rule is set: sandboxes", "(empty_list)"}},
		{POLICY("require_digest: true"), PREFLIGHT_WARN,
			{"such as registry.invalid/cloop-doctor/probe@sha256:0000"}},
		{POLICY("allowed_registries: ['*']"), PREFLIGHT_WARN,
			{"(any_registry)", "such as registry.invalid/"}},
		{POLICY("allowed_registries: ['*.com']"), PREFLIGHT_WARN, {"(broad_wildcard)"}},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		AUTO(config) c = {0};
		AUTO(problems) warnings;
		AUTO(preflight_report) r = {0};
		parse(rows[i].yaml, &c, &warnings);
		doctor_images_policy(&c, &warnings, &r);
		check(rows[i].yaml, &r, rows[i].level, rows[i].words);
	}
}

static void test_stranger(void **state)
{
	static const struct {
		const char *yaml, *stranger; /* up to its digest; NULL = none */
	} rows[] = {
		{POLICY("allowed_registries: [ghcr.io]"), NULL},
		{POLICY("allowed_registries: ['*.ghcr.io']"), NULL},
		{POLICY("allowed_registries: [ghcr.io], allowed_repos: [acme/app, 'x/*']"), NULL},
		{POLICY("allowed_registries: ['*'], allowed_repos: [ghcr.io/acme/app]"), NULL},
		{POLICY("allowed_registries: ['*'], allowed_repos: ['ghcr.io/*']"), NULL},
		{POLICY("allowed_registries: ['*'], allowed_repos: [ghcr.io/a, acme/app]"),
			"registry.invalid/acme/app"},
		{POLICY("allowed_registries: ['*'], allowed_repos: ['acme/x/*']"),
			"registry.invalid/acme/x/probe"},
		{POLICY("allowed_registries: ['*'], allowed_repos: ['cloop-doctor/*']"),
			"registry.invalid/cloop-doctor/probe"},
		{POLICY("allowed_registries: ['*'], require_digest: true"),
			"registry.invalid/cloop-doctor/probe"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		AUTO(config) c = {0};
		AUTO(problems) warnings;
		parse(rows[i].yaml, &c, &warnings);
		auto_free char *got = doctor_images_stranger(&c.image_policy);
		auto_free char *wanted =
			rows[i].stranger ? mem_printf("%s@sha256:%064d", rows[i].stranger, 0)
					 : NULL;
		if (!got || !wanted)
			assert_ptr_equal(got, wanted);
		else
			assert_string_equal(got, wanted);
	}
}

static void test_pinning(void **state)
{
	static const struct {
		const char *yaml;
		enum preflight_level level;
		const char *words[2];
	} rows[] = {
		{"", PREFLIGHT_OK, {"no rule is set"}},
		{POLICY("require_digest: true"), PREFLIGHT_OK, {"must carry a digest"}},
		{POLICY("allowed_registries: [ghcr.io]"), PREFLIGHT_WARN, {"by a tag"}},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		AUTO(config) c = {0};
		AUTO(problems) warnings;
		AUTO(preflight_report) r = {0};
		parse(rows[i].yaml, &c, &warnings);
		doctor_images_pinning(&c.image_policy, &r);
		check(rows[i].yaml, &r, rows[i].level, rows[i].words);
	}
}

static void test_configured(void **state)
{
	static const struct {
		const char *yaml;
		enum preflight_level level;
		const char *words[4];
	} rows[] = {
		{"", PREFLIGHT_WARN, {":latest is a tag", "image_provenance is warn"}},
		{"executors: {image_provenance: 'off', container: {enabled: false}}",
			PREFLIGHT_WARN, {"image_provenance is off"}},
		{REQUIRED("image: localhost/mine:1"), PREFLIGHT_OK, {"allowed and pinned"}},
		{REQUIRED("image: quay.io/a/b:1"), PREFLIGHT_WARN, {"quay.io/a/b:1 is a tag"}},
		{REQUIRED("image: 'quay.io/a/b:1@" DIGEST "'"), PREFLIGHT_OK, {"pinned"}},
		{REQUIRED("image: 'quay.io/a/b@" DIGEST "'") POLICY("allowed_registries: "
								    "[ghcr.io]"),
			PREFLIGHT_WARN, {"it runs, since govern_operator_images is not set"}},
		{REQUIRED("image: quay.io/a/b")
				POLICY("require_digest: true, govern_operator_images: true"),
			PREFLIGHT_WARN, {"(rule: digest-required)", "b:latest is a tag"}},
		/* cloop's own are never judged by the policy. */
		{REQUIRED("image: 'ghcr.io/blechschmidt/cloop-harness@" DIGEST "'") POLICY(
			 "allowed_registries: [quay.io], govern_operator_images: true"),
			PREFLIGHT_OK, {"allowed and pinned"}},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		AUTO(config) c = {0};
		AUTO(problems) warnings;
		AUTO(preflight_report) r = {0};
		parse(rows[i].yaml, &c, &warnings);
		doctor_images_configured(&c, &r);
		check(rows[i].yaml, &r, rows[i].level, rows[i].words);
	}
}

static void hosts_of(const char *yaml, const char *wanted)
{
	AUTO(config) c = {0};
	AUTO(problems) warnings;
	AUTO(strv) hosts = STRV_INIT(DOCTOR_HOSTS_MAX);

	parse(yaml, &c, &warnings);
	doctor_images_hosts(&c.image_policy, &hosts);
	auto_free char *got = strv_join(&hosts, " ");
	assert_string_equal(got, wanted);
}

static void test_hosts(void **state)
{
	auto_free char *label = mem_printf("a%061da", 0);
	auto_free char *host = mem_printf("%s.%s.%s.%.61s", label, label, label, label);
	auto_free char *longest = mem_printf(POLICY("allowed_registries: ['%s:50000']"), host);

	(void)state;
	hosts_of("", "");
	hosts_of(POLICY("allowed_registries: ['*', '*.example.com'], allowed_repos: [acme/app]"),
		"");
	hosts_of(POLICY("allowed_registries: [GHCR.io, 'index.docker.io', '127.0.0.1:5000'], "
			"allowed_repos: ['ghcr.io/a', 'quay.io/*', 'b.example:444/c/*', quay.io/d, "
			"acme/app, docker.io/alpine]"),
		"ghcr.io docker.io 127.0.0.1:5000 quay.io b.example:444");
	/* 259 bytes: an entry may be that long, a name may not. */
	hosts_of(longest, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_policy),
		cmocka_unit_test(test_stranger),
		cmocka_unit_test(test_pinning),
		cmocka_unit_test(test_configured),
		cmocka_unit_test(test_hosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
