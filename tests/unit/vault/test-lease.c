/* What a lease brings of each kind (disk-and-secrets.md §16, §17). */
#include "unit/sys/unit-dir.h"

#include <sys/stat.h>

#include "base/json.h"
#include "base/mem.h"
#include "store/secret.h"
#include "store/store.h"
#include "vault/grant.h"
#include "vault/lease.h"
#include "vault/vault.h"

enum { T = 1700000000 };
static const struct two_clocks now = {T, 1000, TEXT("boot")};

static void mint(struct store *s, const char *kind, const char *name, const char *payload)
{
	auto_error struct error err = ERROR_INIT;
	char id[VAULT_SECRET_ID_SIZE];
	struct store_secret row = {.name = (char *)(uintptr_t)name,
		.kind = (char *)(uintptr_t)kind,
		.created_by = (char *)"me"};

	assert_done(vault_mint(s, path, &row, text_of(payload), id, &err), &err);
}

static void grant(struct store *s, const char *secret, const char *constraints, int64_t ttl)
{
	auto_error struct error err = ERROR_INIT;
	auto_json *ret = NULL;
	auto_json *object = json_loads(constraints, 0, NULL);
	struct grant_request r = {.secret = secret,
		.subject = TEXT("any"),
		.constraints = object,
		.ttl = ttl,
		.actor = "me"};

	assert_done(grant_make(s, &r, &now, &ret, &err), &err);
}

static int accept(struct text image, struct error *err)
{
	(void)image;
	(void)err;
	return 0;
}

/* The lease of a run whose file is `yaml` (NULL: none). */
static void lease(
	struct store *s, const char *yaml, struct material *ret, json_t **report, struct error *err)
{
	AUTO(offer) offer = OFFER_INIT;
	AUTO(spec_result) file;
	static const struct spec_checks checks = {.image = accept};
	struct subject_who who = {.project = TEXT("/p")};

	spec_result_init(&file);
	if (yaml) {
		spec_result_done(&file);
		spec_parse(text_of(yaml), &checks, &file);
		assert_true(file.ok);
	}
	assert_done(offer_load(s, &who, &now, &offer, err), err);
	struct lease_question q = {.store = s,
		.home = path,
		.offer = &offer,
		.spec = yaml ? &file.spec : NULL,
		.now = &now};
	(void)!lease_make(&q, ret, report, err);
}

static const char *value(const struct material *m, const char *name)
{
	for (size_t i = 0; i < m->n_variables; i++)
		if (strcmp(m->variables[i].name, name) == 0)
			return m->variables[i].value.p;
	return NULL;
}

static size_t count(const json_t *report, const char *list)
{
	return json_array_size(json_object_get(report, list));
}

static void test_credentials(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;
	AUTO(material) m = MATERIAL_INIT;
	auto_json *report = NULL;

	assert_done(store_open(path, &s, &err), &err);
	mint(s, "env", "api-token", "s3cret");
	mint(s, "file", "deploy.key", "line 1\nline 2\n");
	mint(s, "registry", "reg", "user:pass:word");
	grant(s, "api-token", "{}", 3600);
	grant(s, "deploy.key", "{}", 7200);
	grant(s, "reg", "{\"registries\":[\"r.example.com\"]}", 7200);
	lease(s, NULL, &m, &report, &err);
	assert_int_equal(err.code, ERROR_NONE);

	assert_int_equal(count(report, "granted"), 3);
	assert_string_equal(value(&m, "API_TOKEN"), "s3cret");
	assert_true(strncmp(m.lease, "lease_", 6) == 0);
	assert_true(strncmp(m.dir, "/run/cloop/cloop-lease-", 23) == 0);
	assert_string_equal(value(&m, "CLOOP_LEASE_DIR"), m.dir);
	assert_string_equal(value(&m, "CLOOP_LEASE_ID"), m.lease);
	assert_string_equal(value(&m, "CLOOP_LEASE_EXPIRES_AT"), "2023-11-14T23:13:20Z");
	assert_string_equal(value(&m, "DOCKER_CONFIG"), m.dir);
	auto_free char *where = mem_printf("%s/deploy.key", m.dir);
	assert_string_equal(value(&m, "CLOOP_SECRET_FILE_DEPLOY_KEY"), where);
	assert_int_equal(m.n_files, 2);
	assert_int_equal(m.n_bindings, 3);
	assert_int_equal(m.expires_at, T + LEASE_WINDOW);
	assert_int_equal(m.hard_end, T + 3600);
	for (size_t i = 0; i < m.n_variables; i++)
		assert_int_equal(
			m.variables[i].sensitive, strcmp(m.variables[i].name, "API_TOKEN") == 0);
	/* No value in what is told. */
	auto_free char *told = json_write(report);
	assert_null(strstr(told, "s3cret"));
	assert_null(strstr(told, "pass"));
}

static void test_filter(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;
	static const struct {
		const char *yaml;
		size_t granted, filtered, files;
	} cases[] = {
		{"image: a\n", 3, 0, 2},
		{"env: []\n", 0, 3, 0},
		{"env: [A]\n", 1, 2, 0},
		{"env: [A, DOCKER_CONFIG]\n", 2, 1, 1},
		{"env: [CLOOP_SECRET_FILE_KEY]\n", 1, 2, 1},
	};

	assert_done(store_open(path, &s, &err), &err);
	mint(s, "env", "pair", "{\"A\":\"1\",\"B\":\"2\"}");
	mint(s, "file", "key", "x");
	mint(s, "registry", "reg", "u:p");
	grant(s, "pair", "{}", 3600);
	grant(s, "key", "{}", 3600);
	grant(s, "reg", "{\"registries\":[\"localhost\"]}", 3600);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		AUTO(material) m = MATERIAL_INIT;
		auto_json *report = NULL;
		lease(s, cases[i].yaml, &m, &report, &err);
		if (err.code != ERROR_NONE || count(report, "granted") != cases[i].granted ||
			count(report, "filtered") != cases[i].filtered ||
			m.n_files != cases[i].files)
			fail_msg("case %zu: %zu granted, %zu filtered, %zu files: %s", i,
				count(report, "granted"), count(report, "filtered"), m.n_files,
				err.message);
		assert_true((m.lease[0] != '\0') == (cases[i].granted > 0));
		assert_true((m.dir[0] != '\0') == (cases[i].files > 0));
		assert_null(cases[i].granted == 0 ? value(&m, "CLOOP_LEASE_ID") : NULL);
	}
}

static void test_denials(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;
	AUTO(material) m = MATERIAL_INIT;
	auto_json *report = NULL;

	assert_done(store_open(path, &s, &err), &err);
	mint(s, "env", "one", "1");
	mint(s, "env", "two", "2");
	mint(s, "env", "three", "3");
	mint(s, "registry", "reg", "{\"auths\":{\"a.example.com\":{\"auth\":\"eA==\"}}}");
	mint(s, "file", "f", "x");
	mint(s, "file", "g", "y");
	grant(s, "one", "{\"env_keys\":[\"OTHER\"]}", 3600);
	grant(s, "two", "{}", -1); /* over already */
	grant(s, "three", "{}", 3600);
	grant(s, "reg", "{\"registries\":[\"b.example.com\"]}", 3600);
	grant(s, "f", "{}", 3600);
	grant(s, "f", "{}", 3600);
	lease(s, NULL, &m, &report, &err);
	assert_int_equal(err.code, ERROR_NONE);
	assert_int_equal(count(report, "granted"), 2);
	assert_int_equal(count(report, "denied"), 4);
	size_t i, expired = 0, constraint = 0;
	json_t *d;
	json_array_foreach(json_object_get(report, "denied"), i, d)
	{
		const char *reason = json_get_string(d, "reason");
		expired += strcmp(reason, "expired") == 0;
		constraint += strcmp(reason, "constraint") == 0;
	}
	assert_int_equal(expired, 1);
	assert_int_equal(constraint, 3);
	assert_string_equal(value(&m, "THREE"), "3");
	assert_null(value(&m, "ONE"));
	assert_null(value(&m, "TWO"));
}

/* The newer grant gives the variable. */
static void test_newest(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;
	AUTO(material) m = MATERIAL_INIT;
	auto_json *report = NULL;

	assert_done(store_open(path, &s, &err), &err);
	mint(s, "env", "old", "{\"TOKEN\":\"old\",\"ONLY_OLD\":\"o\"}");
	mint(s, "env", "new", "{\"TOKEN\":\"new\"}");
	grant(s, "old", "{}", 3600);
	grant(s, "new", "{}", 3600);
	lease(s, NULL, &m, &report, &err);
	assert_string_equal(value(&m, "TOKEN"), "new");
	assert_string_equal(value(&m, "ONLY_OLD"), "o");
	assert_int_equal(m.n_bindings, 2);
}

static void test_host(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = NULL;
	AUTO(material) m = MATERIAL_INIT;
	AUTO(material) none = MATERIAL_INIT;
	AUTO(material) refused = MATERIAL_INIT;
	auto_json *report = NULL;
	auto_json *nothing = NULL;
	auto_json *unused = NULL;
	auto_free char *repos = mem_printf("%s/repos", path);
	auto_free char *git = mem_printf("%s/repos/lib-a/.git", path);

	assert_done(file_make_dirs(git, 0755, &err), &err);
	assert_done(store_open(path, &s, &err), &err);
	mint(s, "host_device", "nodes", "zero=/dev/zero:/dev/zero0:rw\nnull=/dev/null\n");
	mint(s, "local_repo", "repos", repos);
	mint(s, "host_interface", "net", "dut=eth9,target=lab0,mtu=1400\n");
	grant(s, "nodes", "{\"devices\":[\"zero\",\"null\"]}", 3600);
	grant(s, "repos", "{\"repos\":[\"lib-*\"],\"writable\":true}", 3600);
	grant(s, "net", "{\"interfaces\":[\"dut\"]}", 3600);
	lease(s, NULL, &m, &report, &err);
	assert_int_equal(err.code, ERROR_NONE);
	assert_int_equal(m.n_devices, 2);
	assert_string_equal(m.devices[0].source, "/dev/zero");
	assert_string_equal(m.devices[0].mode, "r");  /* the grant is not writable */
	assert_string_equal(m.devices[1].mode, "rw"); /* every sandbox has it so */
	assert_int_equal(m.n_repos, 1);
	assert_true(m.repos[0].writable);
	assert_string_equal(m.interfaces[0].target, "lab0");
	assert_string_equal(value(&m, "CLOOP_HOST_DEVICES"), "zero,null");
	assert_string_equal(value(&m, "CLOOP_HOST_INTERFACES"), "dut");
	assert_string_equal(value(&m, "CLOOP_LOCAL_REPO_ROOT"), "/repos");
	assert_string_equal(value(&m, "CLOOP_LOCAL_REPOS"), "lib-a");
	assert_string_equal(value(&m, "CLOOP_LOCAL_REPO_LIB_A"), "/repos/lib-a");
	assert_null(value(&m, "CLOOP_LEASE_DIR"));

	lease(s, "capabilities: {devices: [], interfaces: []}\n", &none, &nothing, &err);
	assert_int_equal(none.n_devices + none.n_interfaces, 0);
	assert_int_equal(count(nothing, "filtered"), 2);
	assert_null(value(&none, "CLOOP_HOST_DEVICES"));

	/* What the host refuses, refuses the run. */
	mint(s, "host_device", "gone", "x=/dev/cloop-not-there\n");
	grant(s, "gone", "{\"devices\":[\"x\"]}", 3600);
	lease(s, NULL, &refused, &unused, &err);
	assert_int_equal(err.code, ERROR_DEVICE_MISSING);
	assert_string_equal(refused.lease, "");
	assert_int_equal(refused.n_bindings, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		IN_DIR(test_credentials),
		IN_DIR(test_filter),
		IN_DIR(test_denials),
		IN_DIR(test_newest),
		IN_DIR(test_host),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
