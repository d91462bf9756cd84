/* What libcloop tells of a start without an engine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cloop/container.h"
#include "unit/unit-locks.h"

static const char *const argv[] = {"echo", "hello", NULL};
static const struct cloop_audit_runtime podman = {.name = "podman"};
static const struct cloop_audit_runtime docker = {.name = "docker"};

static struct cloop_error *err;
static char project[] = "/tmp/cloop-test-audit-XXXXXX";
static struct cloop_container_options options;
static struct cloop_spec spec;

static bool has(const char *const *list, const char *word)
{
	for (; *list; list++)
		if (strcmp(*list, word) == 0)
			return true;
	return false;
}

static int fresh(void **state)
{
	(void)state;
	cloop_error_clear(err);
	cloop_container_options_init(&options);
	options.image = "quay.io/a/b:1";
	options.allow_root_user = true; /* the directory may be root's */
	cloop_spec_init(&spec);
	spec.argv = argv;
	return 0;
}

static void test_the_line(void **state)
{
	char **line = NULL;

	(void)state;
	assert_int_equal(
		cloop_container_audit_run_argv(&options, &podman, project, &spec, &line, err), 0);
	const char *const *words = (const char *const *)line;
	assert_string_equal(words[0], "podman");
	assert_true(has(words, "--network=none"));
	assert_true(has(words, "--cap-drop=ALL"));
	assert_true(has(words, "--label=cloop.handle=c-000000000000"));
	assert_true(has(words, "quay.io/a/b:1"));
	assert_true(has(words, "hello"));
	cloop_strings_free(line);
	assert_int_equal(
		cloop_container_audit_run_argv(&options, &docker, project, &spec, &line, err), 0);
	assert_string_equal(line[0], "docker");
	cloop_strings_free(line);
}

static void test_refusals(void **state)
{
	static const struct cloop_audit_runtime other = {.name = "nerdctl"};
	char **line = NULL;

	(void)state;
	assert_int_equal(cloop_container_audit_run_argv(
				 &options, &podman, "/nonexistent", &spec, &line, err),
		-1);
	assert_int_equal(
		cloop_container_audit_run_argv(&options, &other, project, &spec, &line, err), -1);
	assert_true(cloop_error_is(err, CLOOP_ERR_RUNTIME_UNSUPPORTED));
	spec.argv = NULL;
	assert_int_equal(
		cloop_container_audit_run_argv(&options, &podman, project, &spec, &line, err), -1);
	assert_true(cloop_error_is(err, "argv_empty"));
}

static void refused(const char *code)
{
	char **line = NULL;

	assert_int_equal(
		cloop_container_audit_run_argv(&options, &podman, project, &spec, &line, err), -1);
	assert_string_equal(cloop_error_code(err), code);
	assert_null(line);
}

static void test_numbers_that_would_wrap(void **state)
{
	static const struct {
		struct cloop_limits limits;
		int64_t timeout_ms;
		const char *code;
	} rows[] = {
		{{.cpu_millis = 1024001}, 0, "cpus_invalid"},
		{{.memory_mb = 1}, 0, "memory_invalid"},
		{{.memory_mb = 63}, 0, "memory_invalid"},
		{{.memory_mb = 1048577}, 0, "memory_invalid"},
		{{.memory_mb = UINT64_MAX}, 0, "memory_invalid"},
		{{.memory_mb = (UINT64_C(1) << 44) + 64}, 0, "memory_invalid"},
		{{.pids = 4194305}, 0, "pids_invalid"},
		{{.pids = UINT64_MAX}, 0, "pids_invalid"},
		{{.disk_mb = 1}, 0, "out_of_range"},
		{{.disk_mb = 63}, 0, "out_of_range"},
		{{.disk_mb = 1048577}, 0, "out_of_range"},
		{{.disk_mb = UINT64_MAX}, 0, "out_of_range"},
		{{.cpu_millis = 0}, -1, "out_of_range"},
		{{.cpu_millis = 0}, INT64_MIN, "out_of_range"},
		{{.cpu_millis = 0}, INT64_C(3153600000001), "out_of_range"},
		{{.cpu_millis = 0}, INT64_MAX, "out_of_range"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		spec.limits = rows[i].limits;
		spec.timeout_ms = rows[i].timeout_ms;
		refused(rows[i].code);
		assert_non_null(strstr(cloop_error_remediation(err), "is 0, or from "));
	}
}

static void test_numbers_at_their_bounds(void **state)
{
	static const struct {
		struct cloop_limits limits;
		int64_t timeout_ms;
		const char *word; /* of the line */
	} rows[] = {
		{{.cpu_millis = 1}, 1, "--cpus=0.01"},
		{{.cpu_millis = 1024000}, INT64_C(3153600000000), NULL},
		{{.memory_mb = 64}, 0, "--memory=64m"},
		{{.memory_mb = 1048576}, 0, "--memory=1048576m"},
		{{.pids = 1}, 0, "--pids-limit=2"},
		{{.pids = 4194304}, 0, "--pids-limit=4194304"},
		{{.disk_mb = 64}, 0, NULL},
		{{.disk_mb = 1048576}, 0, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char **line = NULL;
		spec.limits = rows[i].limits;
		spec.timeout_ms = rows[i].timeout_ms;
		assert_int_equal(cloop_container_audit_run_argv(
					 &options, &podman, project, &spec, &line, err),
			0);
		assert_true(!rows[i].word || has((const char *const *)line, rows[i].word));
		cloop_strings_free(line);
	}
}

/* What is refused of them is wiped and released, too (AddressSanitizer sees what is not). */
static void test_secrets_that_are_refused(void **state)
{
	enum { TOO_MANY = 600 };
	static char names[TOO_MANY][8];
	static struct cloop_secret_file files[TOO_MANY];
	static struct cloop_secret_variable variables[TOO_MANY];

	(void)state;
	for (size_t i = 0; i < TOO_MANY; i++) {
		snprintf(names[i], sizeof(names[i]), "N%zu", i);
		files[i] = (struct cloop_secret_file){.name = names[i], .data = "s", .size = 1};
		variables[i] = (struct cloop_secret_variable){.name = names[i], .value = "s"};
	}
	spec.lease = "lease_0123456789abcdef01234567";
	spec.secret_files = files;
	spec.n_secret_files = TOO_MANY;
	refused("secrets_too_large");
	spec.n_secret_files = 0;
	spec.secret_variables = variables;
	spec.n_secret_variables = TOO_MANY;
	refused("env_too_many");
	/* It would be A with a value that begins with B=, which nothing masks. */
	variables[0].name = "A=B";
	spec.n_secret_variables = 1;
	refused("env_name_invalid");
	/* No more of it is read than shows its size. */
	static const char content[262145];
	files[0].data = content;
	files[0].size = SIZE_MAX;
	spec.n_secret_variables = 0;
	spec.n_secret_files = 1;
	refused("secret_too_large");
}

static void test_the_network_of_a_build(void **state)
{
	static const char *const setup[] = {"true", NULL};
	static const struct {
		const char *network, *runtime;
		bool off;
		const char *word;
	} rows[] = {
		{"none", "", false, "none"},
		{"bridge", "", false, "private"},
		{"bridge", "docker", false, "bridge"},
		{"bridge", "", true, "none"},
		{"lan", "", false, "lan"},
	};

	(void)state;
	spec.work_dir = project;
	spec.setup = setup;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char *word = NULL;
		options.network = rows[i].network;
		options.runtime = rows[i].runtime;
		spec.disable_network = rows[i].off;
		assert_int_equal(
			cloop_container_audit_build_network(&options, &spec, &word, err), 0);
		assert_string_equal(word, rows[i].word);
		cloop_string_free(word);
	}
}

/* What the process has locked into memory. */
static long locked_kb(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[256];
	long kb = -1;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (strncmp(line, "VmLck:", 6) == 0)
			for (const char *c = line, *last = c + strlen(c); c < last; c++)
				if (*c >= '0' && *c <= '9')
					kb = (kb < 0 ? 0 : kb * 10) + (*c - '0');
	fclose(f);
	return kb;
}

static void test_secrets_are_staged_and_wiped(void **state)
{
	long before = locked_kb();
	const struct cloop_secret_file files[] = {
		{.name = "token", .data = "s3cret", .size = 6},
		{.name = "key", .data = "k", .size = 1, .mode = 0400},
	};
	struct cloop_staging *staging = NULL;
	char dir[128], file[256];
	struct stat st;

	(void)state;
	spec.lease = "lease_0123456789abcdef01234567";
	spec.secret_files = files;
	spec.n_secret_files = 2;
	assert_int_equal(cloop_container_audit_secret_staging(
				 &options, &podman, project, &spec, &staging, err),
		0);
	/* Two contents, a page each. */
	assert_true(!LOCKS || locked_kb() >= before + 8);
	assert_non_null(cloop_staging_dirs(staging)[0]);
	assert_null(cloop_staging_dirs(staging)[1]);
	snprintf(dir, sizeof(dir), "%s", cloop_staging_dirs(staging)[0]);
	assert_int_equal(stat(dir, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	snprintf(file, sizeof(file), "%s/token", dir);
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(st.st_size, 6);
	snprintf(file, sizeof(file), "%s/key", dir);
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0400);
	bool mounted = false;
	for (const char *const *w = cloop_staging_argv(staging); *w; w++) {
		assert_null(strstr(*w, "s3cret"));
		if (strstr(*w, dir))
			mounted = strstr(*w, "readonly") || strstr(*w, ",ro");
	}
	assert_true(mounted);
	cloop_staging_cleanup(staging);
	assert_int_equal(locked_kb(), before);
	assert_int_equal(stat(dir, &st), -1);
	cloop_staging_cleanup(NULL);
}

static void test_secrets_need_a_lease(void **state)
{
	const struct cloop_secret_file file = {.name = "token", .data = "x", .size = 1};
	struct cloop_staging *staging = NULL;

	(void)state;
	spec.secret_files = &file;
	spec.n_secret_files = 1;
	assert_int_equal(cloop_container_audit_secret_staging(
				 &options, &podman, project, &spec, &staging, err),
		-1);
	assert_true(cloop_error_is(err, "lease_missing"));
	assert_null(staging);
}

static int make(void **state)
{
	(void)state;
	err = cloop_error_new();
	return mkdtemp(project) ? 0 : -1;
}

static int drop(void **state)
{
	(void)state;
	cloop_error_free(err);
	return rmdir(project);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_the_line, fresh),
		cmocka_unit_test_setup(test_refusals, fresh),
		cmocka_unit_test_setup(test_numbers_that_would_wrap, fresh),
		cmocka_unit_test_setup(test_numbers_at_their_bounds, fresh),
		cmocka_unit_test_setup(test_secrets_that_are_refused, fresh),
		cmocka_unit_test_setup(test_the_network_of_a_build, fresh),
		cmocka_unit_test_setup(test_secrets_are_staged_and_wiped, fresh),
		cmocka_unit_test_setup(test_secrets_need_a_lease, fresh),
	};

	return cmocka_run_group_tests(tests, make, drop);
}
