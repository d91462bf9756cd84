/*
 * nft itself accepts every script (network.md §17.1): `nft -c`, in a network namespace of the test,
 * many tables in one file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "sys/spawn.h"
#include "unit/net/random-filter.h"

enum { TABLES = 60, CHECK_MS = 60000 };

static void add_script(struct str *out, const struct egress_filter *f, int number)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(egress_policy) p = {.n_rules = 0};
	char table[32];

	if (egress_policy_compile(f, &p, &err) < 0)
		return;
	snprintf(table, sizeof(table), "cloop_sbx_%d", number);
	struct nft_script_names names = {number % 2 ? NFT_BRIDGE : NFT_NAMESPACE, text_of(table),
		TEXT("br-1a1cf5b29136"), TEXT("cloop /var/lib/\"x\"; é NETWORK")};
	assert_int_equal(nft_script_render(&p, &names, out, &err), 0);
	assert_int_equal(nft_script_remove(names.table, out, &err), 0);
}

/* What nft says of it; "" when it accepts. */
static void check(const struct str *script)
{
	auto_error struct error err = ERROR_INIT;
	char path[] = "/tmp/cloop-nft-check-XXXXXX";
	auto_fd int fd = mkstemp(path);
	bool root = geteuid() == 0;
	char *argv[] = {"unshare", root ? "-n" : "-rn", "/usr/sbin/nft", "-c", "-f", path, NULL};
	struct spawn s = {.path = "/usr/bin/unshare", .argv = argv};
	struct capture limits = {
		.stdout_max = 4096, .stderr_max = 4096, .timeout_ms = CHECK_MS, .cancel_fd = -1};
	struct captured said;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, str_text(script), script->len), script->len);
	int ran = spawn_capture(&s, &limits, &said, &err);
	unlink(path);
	assert_int_equal(ran, 0);
	if (said.status != 0)
		print_error("%.1000s\n", str_text(&said.err));
	assert_int_equal(said.status, 0);
	captured_done(&said);
}

static void test_random(void **state)
{
	AUTO(str) script = STR_INIT(TABLES * NFT_SCRIPT_MAX);
	struct random r = {.state = 4711};

	(void)state;
	for (int i = 0; i < TABLES; i++) {
		AUTO(egress_filter) f;
		random_filter(&r, &f);
		add_script(&script, &f, i);
	}
	assert_true(script.len > 100000);
	check(&script);
}

static void test_refused(void **state)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(egress_policy) p = {.n_rules = 0};
	AUTO(egress_filter) f;
	AUTO(str) out = STR_INIT(NFT_SCRIPT_MAX);
	struct nft_script_names names = {NFT_BRIDGE, TEXT("t"), TEXT("b; flush ruleset"), TEXT("")};

	(void)state;
	egress_filter_init(&f);
	assert_int_equal(egress_policy_compile(&f, &p, &err), 0);
	assert_int_equal(nft_script_render(&p, &names, &out, &err), -1);
	assert_int_equal(err.code, ERROR_NFT_NAME_INVALID);
	names.bridge = TEXT("b");
	names.table = TEXT("t\n");
	assert_int_equal(nft_script_render(&p, &names, &out, &err), -1);
	assert_int_equal(nft_script_remove(names.table, &out, &err), -1);
	assert_int_equal(out.len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
