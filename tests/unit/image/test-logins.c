/* Which of the login files is taken, and which of their faults stop the look-up (§7). */
#include "unit/unit.h"

#include <sys/stat.h>

#include "base/mem.h"
#include "image/logins.h"

#define LOGIN_A "{\"auths\": {\"r.example\": {\"auth\": \"YTpwYXNz\"}}}" /* a:pass */
#define LOGIN_B "{\"auths\": {\"r.example/x\": {\"auth\": \"YjpwYXNz\"}}}"
#define NO_LOGIN "{\"auths\": {\"other.example\": {\"auth\": \"!\"}}, \"credsStore\": \"canary\"}"
#define EMPTY_ENTRY "{\"auths\": {\"r.example\": {}}, \"credHelpers\": {\"r.example\": \"own\"}}"

enum { DOCKER, NAMED, RUNTIME, CONFIG, FILES };
static const char *const names[FILES] = {
	"docker/config.json", "named.json", "run/containers/auth.json", "etc/containers/auth.json"};

static char root[] = "/tmp/test-logins-XXXXXX";

static char *path_of(const char *name)
{
	return mem_printf("%s/%s", root, name);
}

static void write_file(const char *name, const char *content, size_t n)
{
	auto_free char *path = path_of(name);
	auto_fd int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, n), n);
}

static void remove_file(const char *name)
{
	auto_free char *path = path_of(name);

	(void)unlink(path);
	(void)rmdir(path);
}

static int setup(void **state)
{
	static const char *const dirs[] = {"docker", "run", "run/containers", "etc",
		"etc/containers", "home", "home/.docker", "home/.config",
		"home/.config/containers"};
	static const char *const variables[][2] = {{"DOCKER_CONFIG", "docker"},
		{"REGISTRY_AUTH_FILE", "named.json"}, {"XDG_RUNTIME_DIR", "run"},
		{"XDG_CONFIG_HOME", "etc"}, {"HOME", "home"}};

	(void)state;
	assert_non_null(mkdtemp(root));
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		auto_free char *path = path_of(dirs[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
		auto_free char *path = path_of(variables[i][1]);
		setenv(variables[i][0], path, 1);
	}
	return 0;
}

static int teardown(void **state)
{

	(void)state;
	for (size_t i = 0; i < FILES; i++)
		remove_file(names[i]);
	static const char *const dirs[] = {"home/.config/containers/auth.json",
		"home/.docker/config.json", "home/.config/containers", "home/.config",
		"home/.docker", "home", "etc/containers", "etc", "run/containers", "run", "docker"};
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++)
		remove_file(dirs[i]);
	return rmdir(root);
}

/* The outcome for r.example/x/y with these files (NULL = missing). */
static int find(const char *const content[FILES], struct login_found *ret, struct error *err)
{
	struct image_reference r;

	for (size_t i = 0; i < FILES; i++) {
		remove_file(names[i]);
		if (content[i])
			write_file(names[i], content[i], strlen(content[i]));
	}
	assert_done(image_reference_parse(TEXT("r.example/x/y:1"), &r, err), err);
	return logins_find(&r, ret, err);
}

static void test_order(void **state)
{
	static const struct {
		const char *content[FILES];
		const char *user, *file, *helper;
	} rows[] = {
		{{LOGIN_A, LOGIN_B, LOGIN_B, LOGIN_B}, "a", "docker/config.json", NULL},
		{{NO_LOGIN, LOGIN_B, LOGIN_A, LOGIN_A}, "b", "named.json", "canary"},
		{{EMPTY_ENTRY, NULL, LOGIN_B, LOGIN_A}, "b", "run/containers/auth.json", "own"},
		{{NULL, NULL, NULL, LOGIN_A}, "a", "etc/containers/auth.json", NULL},
		{{"{}", "{}", "{}", "{}"}, NULL, NULL, NULL},
		{{NULL, NULL, NO_LOGIN, EMPTY_ENTRY}, NULL, NULL, "canary"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_error struct error err = ERROR_INIT;
		AUTO(login_found) found = {.file = NULL};
		int got = find(rows[i].content, &found, &err);
		assert_int_equal(got, rows[i].user ? 0 : AUTH_NO_LOGIN);
		assert_int_equal(!found.helper, !rows[i].helper);
		if (rows[i].helper)
			assert_string_equal(found.helper, rows[i].helper);
		if (!rows[i].user)
			continue;
		auto_free char *file = path_of(rows[i].file);
		assert_string_equal(found.login.user, rows[i].user);
		assert_string_equal(found.file, file);
	}
}

static void test_broken(void **state)
{
	static const struct {
		const char *content;
		enum error_code code;
	} rows[] = {
		{"", ERROR_AUTH_FILE_BROKEN},
		{"c2VjcmV0", ERROR_AUTH_FILE_BROKEN},
		{"{\"auths\": {\"r.example\": {\"auth\": \"c2VjcmV0\"", ERROR_AUTH_FILE_BROKEN},
		{"[]", ERROR_AUTH_FILE_BROKEN},
		{"{\"auths\": []}", ERROR_AUTH_FILE_BROKEN},
		{"{\"auths\": {\"r.example\": []}}", ERROR_AUTH_ENTRY_BROKEN},
		{"{\"auths\": {\"r.example\": {\"auth\": \"c2VjcmV0\"}}}", ERROR_AUTH_ENTRY_BROKEN},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *content[FILES] = {NO_LOGIN, rows[i].content, LOGIN_A, LOGIN_A};
		auto_error struct error err = ERROR_INIT;
		AUTO(login_found) found = {.file = NULL};
		assert_int_equal(find(content, &found, &err), -1);
		assert_int_equal(err.code, rows[i].code);
		assert_non_null(strstr(err.message, "/named.json"));
		assert_null(strstr(err.message, "c2VjcmV0"));
		assert_null(strstr(err.message, "secret"));
	}
}

static void test_not_a_file(void **state)
{
	const char *content[FILES] = {NULL};
	auto_free char *path = path_of("named.json");
	struct image_reference r;
	auto_error struct error err = ERROR_INIT;
	AUTO(login_found) found = {.file = NULL};

	(void)state;
	assert_int_equal(find(content, &found, &err), AUTH_NO_LOGIN);
	assert_done(image_reference_parse(TEXT("r.example/x/y:1"), &r, &err), &err);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(logins_find(&r, &found, &err), -1);
	assert_int_equal(err.code, ERROR_AUTH_FILE_BROKEN);
	remove_file("named.json");
	assert_int_equal(mkfifo(path, 0600), 0); /* which must not be waited for */
	assert_int_equal(logins_find(&r, &found, &err), -1);
	assert_int_equal(err.code, ERROR_AUTH_FILE_BROKEN);
	remove_file("named.json");
}

/* 1 MiB is read, a byte more is not. */
static void test_size(void **state)
{
	auto_free char *big = mem_alloc(AUTH_FILE_MAX_BYTES + 2);
	const char *content[FILES] = {big, NULL, NULL, NULL};
	auto_error struct error err = ERROR_INIT;
	AUTO(login_found) found = {.file = NULL};

	(void)state;
	memset(big, ' ', AUTH_FILE_MAX_BYTES);
	memcpy(big, LOGIN_A, strlen(LOGIN_A));
	assert_int_equal(find(content, &found, &err), 0);
	login_found_done(&found);
	big[AUTH_FILE_MAX_BYTES] = ' ';
	assert_int_equal(find(content, &found, &err), -1);
	assert_int_equal(err.code, ERROR_AUTH_FILE_BROKEN);
}

/* Without their variables, docker's file and podman's lie below the home. */
static void test_home(void **state)
{
	const char *content[FILES] = {LOGIN_B, NULL, NULL, LOGIN_B};
	auto_error struct error err = ERROR_INIT;
	AUTO(login_found) found = {.file = NULL};
	AUTO(login_found) second = {.file = NULL};

	(void)state;
	unsetenv("DOCKER_CONFIG");
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("REGISTRY_AUTH_FILE");
	write_file("home/.config/containers/auth.json", LOGIN_A, strlen(LOGIN_A));
	assert_int_equal(find(content, &found, &err), 0);
	assert_non_null(strstr(found.file, "/home/.config/containers/auth.json"));
	write_file("home/.docker/config.json", LOGIN_A, strlen(LOGIN_A));
	assert_int_equal(find(content, &second, &err), 0);
	assert_non_null(strstr(second.file, "/home/.docker/config.json"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_not_a_file),
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_home),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
