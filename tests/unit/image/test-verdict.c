/* Verdicts beyond the public cases: whose images, limits of a default registry, words, purity. */
#include "unit/unit.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/json.h"
#include "base/mem.h"
#include "image/verdict.h"

#define D "@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* A policy of one registry and one repository, either may be NULL. */
static void make(struct image_policy *p, const char *registry, const char *repo)
{
	p->allowed_registries.items = STRV_INIT(4);
	p->allowed_repos.items = STRV_INIT(4);
	if (registry)
		assert_int_equal(strv_add(&p->allowed_registries.items, registry), 0);
	if (repo)
		assert_int_equal(strv_add(&p->allowed_repos.items, repo), 0);
	image_policy_index(p);
}

static void test_origins(void **unused)
{
	static const struct {
		enum image_origin origin;
		bool govern, allowed, active;
	} rows[] = {
		{IMAGE_ORIGIN_PROJECT, false, false, true},
		{IMAGE_ORIGIN_PROJECT, true, false, true},
		{IMAGE_ORIGIN_OPERATOR, false, true, false},
		{IMAGE_ORIGIN_OPERATOR, true, false, true},
		{IMAGE_ORIGIN_PUBLISHED, false, true, false},
		{IMAGE_ORIGIN_PUBLISHED, true, true, false},
	};
	AUTO(image_policy) p = {.require_signature = true};

	(void)unused;
	make(&p, "quay.io", NULL);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct image_verdict v;
		p.govern_operator_images = rows[i].govern;
		image_verdict(&p, rows[i].origin, TEXT("ghcr.io/a/b:1"), &v);
		assert_int_equal(v.allowed, rows[i].allowed);
		assert_int_equal(v.policy_active, rows[i].active);
		assert_false(v.needs_signature);
		/* The grammar holds for everybody. */
		image_verdict(&p, rows[i].origin, TEXT("ghcr.io/A"), &v);
		assert_int_equal(v.rule, IMAGE_RULE_REFERENCE_SYNTAX);
		assert_string_equal(v.detail, "uppercase");
		assert_string_equal(v.ref.repository, "");
	}
}

/* The default registry makes the name longer; then the limits are judged again, in their order. */
static void test_default_limits(void **unused)
{
	static const struct {
		size_t repository, tag;
		bool digest;
		const char *detail; /* "" = allowed */
	} rows[] = {
		{247, 0, false, ""}, /* quay.io/ and 247 are 255 */
		{248, 0, false, "name_too_long"},
		{247, 128, true, ""}, /* 255 + 129 + 72 */
		{255, 128, true, "name_too_long"},
	};
	char registry[] = "quay.io";
	struct image_policy p = {.default_registry = registry};

	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		AUTO(str) image = STR_INIT(1024);
		struct image_verdict v;
		for (size_t k = 0; k < rows[i].repository; k++)
			str_add_char(&image, 'a');
		for (size_t k = 0; k < rows[i].tag; k++)
			str_add_char(&image, k ? 't' : ':');
		if (rows[i].digest)
			str_add_text(&image, D);
		image_verdict(&p, IMAGE_ORIGIN_PROJECT, text_of(str_text(&image)), &v);
		assert_string_equal(v.detail, rows[i].detail);
		assert_int_equal(v.allowed, rows[i].detail[0] == '\0');
		assert_int_equal(v.ref.qualified, false);
	}
}

/* "a.b/c" of some registry is not what the entry of the registry a.b admits. */
static void test_repository_like_registry(void **unused)
{
	static const struct {
		const char *entry, *image;
		bool allowed;
	} rows[] = {
		{"a.b/*", "a.b/c:1", true},
		{"a.b/*", "quay.io/a.b/c:1", false},
		{"localhost/*", "quay.io/localhost/c:1", false},
		{"localhost/*", "localhost/c:1", true},
		{"quay.io/a.b/*", "quay.io/a.b/c:1", true},
		{"a/*", "quay.io/a/b/c:1", true},
		{"a/*", "docker.io/library/a:1", false},
		{"a", "docker.io/library/a:1", true},
		{"a", "docker.io/a/b:1", false},
		{"a", "quay.io/library/a:1", false},
		{"library/*", "docker.io/a:1", true},
		{"library/a", "docker.io/a:1", true},
	};

	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		AUTO(image_policy) p = {.default_registry = NULL};
		struct image_verdict v;
		make(&p, "*", rows[i].entry);
		image_verdict(&p, IMAGE_ORIGIN_PROJECT, text_of(rows[i].image), &v);
		if (v.allowed != rows[i].allowed)
			fail_msg("%s under %s", rows[i].image, rows[i].entry);
	}
}

static void test_words(void **unused)
{
	static const struct {
		const char *image, *reason, *remedy;
	} rows[] = {
		{"alpine", "names no registry", "docker.io/library/alpine"},
		{"a/b:2" D, "names no registry", "docker.io/a/b:2" D},
		{"ghcr.io/a/b", "ghcr.io", "quay.io"},
		{"quay.io/a/b:2", "quay.io/a/b", "quay.io/a/b"},
		{"quay.io/acme/b:2", "the tag 2", "cloop image resolve quay.io/acme/b:2"},
		{"\x1b[31m", "\\x1b[31m", ""},
	};
	AUTO(image_policy) p = {.require_digest = true};

	(void)unused;
	make(&p, "quay.io", "acme/*");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_error struct error err = ERROR_INIT;
		struct image_verdict v;
		struct text image = text_of(rows[i].image);
		assert_int_equal(image_verdict_pass(&p, IMAGE_ORIGIN_PROJECT, image, &v, &err), -1);
		assert_non_null(strstr(v.reason, rows[i].reason));
		assert_true(v.remedy[0] && strstr(v.remedy, rows[i].remedy));
		assert_non_null(strstr(err.message, image_rule_text(v.rule)));
		assert_null(strchr(err.message, '\x1b'));
		bool syntax = v.rule == IMAGE_RULE_REFERENCE_SYNTAX;
		assert_int_equal(
			err.code, syntax ? ERROR_SANDBOX_INVALID_SPEC : ERROR_SANDBOX_IMAGE_DENIED);
		assert_int_equal(!!strstr(err.message, "malformed image reference"), syntax);
		assert_string_equal(json_get_string(err.details, "image"), rows[i].image);
		assert_string_equal(json_get_string(err.details, "origin"), "project");
	}
}

/* What is allowed may still be refused by what its digest turns out to be. */
static void test_signature_refused(void **unused)
{
	auto_error struct error err = ERROR_INIT;
	struct image_policy p = {.require_signature = true};
	struct image_verdict v;
	struct text image = TEXT("ghcr.io/a" D);

	(void)unused;
	assert_int_equal(image_verdict_pass(&p, IMAGE_ORIGIN_PROJECT, image, &v, &err), 0);
	assert_true(v.allowed && v.needs_signature && !v.needs_pin);
	image_verdict_refuse(&v, IMAGE_RULE_SIGNATURE_REQUIRED, "timeout", "why", "what to do");
	assert_true(!v.allowed && !v.run_as[0]);
	assert_int_equal(image_verdict_error(&v, IMAGE_ORIGIN_PROJECT, image, &err), -1);
	assert_string_equal(json_get_string(err.details, "rule"), "signature-required");
	assert_string_equal(json_get_string(err.details, "detail"), "timeout");
	assert_string_equal(json_get_string(err.details, "registry"), "ghcr.io");
	assert_non_null(strstr(err.message, "(rule: signature-required): why"));
	assert_string_equal(error_remedy(&err), "what to do");
}

/* ---- No system call but for memory ---- */

static void forbid_system_calls(void)
{
	static const long allowed[] = {
		SYS_brk, SYS_mmap, SYS_munmap, SYS_mremap, SYS_madvise, SYS_exit_group};
	struct sock_filter code[2 * ARRAY_SIZE(allowed) + 2];
	struct sock_fprog program = {.len = 0, .filter = code};

	code[program.len++] = (struct sock_filter)BPF_STMT(
		BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < ARRAY_SIZE(allowed); i++) {
		code[program.len++] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)allowed[i], 0, 1);
		code[program.len++] =
			(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	code[program.len++] =
		(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		_exit(2);
}

static int judge_all(const struct image_policy *p, struct image_verdict *v)
{
	static const char *const images[] = {"quay.io/acme/b:1", ("quay.io/acme/b" D),
		"quay.io/b:1", "ghcr.io/acme/b", "alpine", "", "-v", "GHCR.io/a@x", "\xff\xfe",
		"[::1]:1/a"};
	unsigned rules = 0;

	for (size_t i = 0; i < ARRAY_SIZE(images); i++) {
		image_verdict(p, IMAGE_ORIGIN_PROJECT, text_of(images[i]), v);
		rules |= 1U << v->rule;
	}
	return rules == (1U << IMAGE_RULE_NONE | 1U << IMAGE_RULE_REFERENCE_SYNTAX |
				1U << IMAGE_RULE_UNQUALIFIED_REFERENCE |
				1U << IMAGE_RULE_REGISTRY_ALLOWLIST |
				1U << IMAGE_RULE_REPOSITORY_ALLOWLIST |
				1U << IMAGE_RULE_DIGEST_REQUIRED)
		       ? 0
		       : 1;
}

static void test_pure(void **unused)
{
	AUTO(image_policy) p = {.require_digest = true};
	struct image_verdict v;
	int status;

	(void)unused;
	make(&p, "quay.io", "acme/*");
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		forbid_system_calls();
		/* Not _exit(): a sanitizer would look around before the end. */
		syscall(SYS_exit_group, judge_all(&p, &v));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_origins),
		cmocka_unit_test(test_default_limits),
		cmocka_unit_test(test_repository_like_registry),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_signature_refused),
		cmocka_unit_test(test_pure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
