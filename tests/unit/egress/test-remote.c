/* Where executors on other machines reach the proxy (network.md §12.2). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "egress/remote.h"

typedef int check(struct text t, struct error *err);

static void judge(check *function, const char *text, const char *code)
{
	auto_error struct error err = ERROR_INIT;
	int r = function(text_of(text), &err);

	if (r != (code ? -1 : 0))
		fail_msg("%s: %d", text, r);
	if (code)
		assert_string_equal(error_code_text(err.code), code);
}

static void test_listen(void **state)
{
	static const char *const good[] = {"10.0.0.1:1", "192.0.2.1:65535", "[2001:db8::1]:3128"};
	static const char *const bad[] = {"", "10.0.0.1", "10.0.0.1:0", "10.0.0.1:65536",
		"10.0.0.1:", ":80", "hub:80", "0.0.0.0:80", "[::]:80", "127.0.0.1:80",
		"127.9.9.9:80", "[::1]:80", "[::ffff:127.0.0.1]:80", "224.0.0.1:80",
		"255.255.255.255:80", "2001:db8::1", "10.0.0.1:80 ", "10.0.0.1:080"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		judge(remote_check_listen, good[i], NULL);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		judge(remote_check_listen, bad[i], "egress_listen_invalid");
}

static void test_advertised(void **state)
{
	static const char *const good[] = {"hub", "hub:1", "Hub.Example.org:65535",
		"hub.example.org.", "10.0.0.1", "10.0.0.1:80", "[2001:db8::1]", "[2001:db8::1]:80",
		"2001:db8::1", "svc", "cluster.local", "localhost.example", "docker.internal",
		"3com.example", "x.svc.example", "notlocalhost"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		judge(remote_check_advertise, good[i], NULL);
}

static void test_refused(void **state)
{
	static const char *const bad[] = {"", ":80", "hub:", "hub:0", "hub:65536", "hub:x",
		"hub:1:2", "localhost", "LOCALHOST:80", "localhost.", "a.localhost",
		"host.docker.internal", "Host.Containers.Internal:80", "x.svc", "a.b.svc:80",
		"x.cluster.local", "x.svc.cluster.local.", "127.0.0.1", "127.0.0.1:80", "[::1]",
		"::1", "[::ffff:127.0.0.1]:80", "0.0.0.0", "[::]:80", "::", "169.254.1.1",
		"169.254.169.254:80", "[fe80::1]", "fe80::1", "[fe80::1%eth0]:80", "[10.0.0.1]:80",
		"[2001:db8::1", "[2001:db8::1]80", "[]:80", "a_b", "-a.example", "a-", "a..b", ".",
		"*.example", "http://hub", "hub/", "user@hub", "hub example", " hub", "127.1",
		"0x7f.1", "2130706433"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		judge(remote_check_advertise, bad[i], "egress_advertise_invalid");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_listen),
		cmocka_unit_test(test_advertised),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
