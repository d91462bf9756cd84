/* Real bridges and pairs, in network namespaces that each test makes; needs root. */
#include "unit/unit.h"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/strv.h"
#include "executor/container/network/bridge-port.h"
#include "executor/container/network/host-ranges.h"
#include "sys/spawn.h"

enum { WORDS_MAX = 24 };

static int inside; /* the sandbox's namespace */

/* What ip says, in our namespace. */
static void ip(struct captured *ret, const char *line)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(strv) argv = STRV_INIT(WORDS_MAX);
	auto_free char *words = mem_strdup(line);
	const struct capture how = {.stdout_max = 1 << 16, .stderr_max = 4096, .cancel_fd = -1};
	char *rest = words;

	strv_add(&argv, "ip");
	for (char *word; (word = strsep(&rest, " "));)
		strv_add(&argv, word);
	struct spawn s = {.path = "/bin/ip", .argv = argv.v};
	assert_done(spawn_capture(&s, &how, ret, &err), &err);
	if (ret->status != 0)
		fail_msg("ip %s: %s", line, str_text(&ret->err));
}

static void make(const char *line)
{
	AUTO(captured) c = {.status = 0};

	ip(&c, line);
}

static bool says(const char *line, const char *wanted)
{
	AUTO(captured) c = {.status = 0};

	ip(&c, line);
	return strstr(str_text(&c.out), wanted) != NULL;
}

/* A namespace with a bridge and two ports: `mine` leads into `inside`, `other` does not. */
static int setup(void **state)
{
	(void)state;
	if (geteuid() != 0)
		return 0;
	assert_int_equal(unshare(CLONE_NEWNET), 0);
	int ready[2], end[2];
	assert_int_equal(pipe(ready) | pipe(end), 0);
	pid_t pid = fork();
	if (pid == 0) {
		char c;
		_exit(unshare(CLONE_NEWNET) == 0 && write(ready[1], "", 1) == 1 &&
					close(end[1]) == 0 && read(end[0], &c, 1) == 0
				? 0
				: 1);
	}
	char c;
	assert_int_equal(read(ready[0], &c, 1), 1);
	auto_free char *path = mem_printf("/proc/%d/ns/net", pid);
	inside = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(inside >= 0);
	auto_free char *pair = mem_printf("link add mine type veth peer name away netns %d", pid);
	make("link add bridge0 type bridge");
	make("link add bridge1 type bridge");
	make("link add other type veth peer name there");
	make("link set other master bridge0");
	make(pair);
	make("link set mine master bridge0");
	for (int i = 0; i < 2; i++) {
		close(ready[i]);
		close(end[i]);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	close(inside);
	return 0;
}

static unsigned found(const char *bridge, int namespace)
{
	auto_error struct error err = ERROR_INIT;
	unsigned port = 1;

	assert_done(bridge_port_find(bridge, namespace, &port, &err), &err);
	return port;
}

static void test_port(void **state)
{
	auto_error struct error err = ERROR_INIT;

	(void)state;
	if (geteuid() != 0)
		skip();
	unsigned port = found("bridge0", inside);
	assert_int_equal(port, if_nametoindex("mine"));
	assert_int_equal(found("bridge1", inside), 0);
	assert_int_equal(found("none", inside), 0);
	assert_true(says("-d link show mine", "isolated off"));
	assert_done(bridge_port_isolate(port, &err), &err);
	assert_true(says("-d link show mine", "isolated on"));
	assert_true(says("-d link show other", "isolated off"));
	assert_done(bridge_port_delete(port, &err), &err);
	assert_int_equal(if_nametoindex("mine"), 0);
	assert_int_not_equal(if_nametoindex("other"), 0);
	assert_int_equal(found("bridge0", inside), 0);
	/* The engine may be faster. */
	assert_done(bridge_port_delete(port, &err), &err);
	assert_int_equal(bridge_port_isolate(port, &err), -1);
	assert_non_null(strstr(err.message, "No such device"));
}

static bool has(const struct host_ranges *r, const char *range)
{
	char text[CIDR_TEXT_SIZE];

	for (size_t i = 0; i < r->n; i++) {
		cidr_text(&r->v[i], text);
		if (strcmp(text, range) == 0)
			return true;
	}
	return false;
}

static void test_address(void **state)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(host_ranges) r = {0};

	(void)state;
	if (geteuid() != 0)
		skip();
	for (int twice = 0; twice < 2; twice++)
		assert_done(bridge_port_address("bridge0", "10.66.7.1", 24, &err), &err);
	assert_true(says("address show bridge0", "inet 10.66.7.1/24 scope global bridge0"));
	make("link set bridge0 up");
	make("address add fd00:7::1/64 dev bridge0 nodad");
	make("route add 10.99.0.0/16 via 10.66.7.9 table 77");
	assert_done(host_ranges_read(&r, &err), &err);
	assert_true(has(&r, "10.66.7.1/24") && has(&r, "10.66.7.0/24"));
	assert_true(has(&r, "10.99.0.0/16") && has(&r, "fd00:7::/64"));
	assert_int_equal(bridge_port_address("bridge0", "fd00:7::1", 64, &err), -1);
	error_clear(&err);
	assert_int_equal(bridge_port_address("none", "10.66.8.1", 24, &err), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_port, setup, teardown),
		cmocka_unit_test_setup_teardown(test_address, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
