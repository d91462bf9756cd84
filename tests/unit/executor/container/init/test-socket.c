/* Packets with descriptors: what arrives is the receiver's, what is wrong leaves nothing open. */
#include "unit/unit.h"

#include <dirent.h>
#include <errno.h>
#include <sys/socket.h>

#include "executor/container/init/init-socket.h"

struct pair {
	int guest, shim;
	int open_before;
};

static int count_open(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static int set_up(void **state)
{
	static struct pair p;
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	p = (struct pair){ends[0], ends[1], count_open()};
	*state = &p;
	return 0;
}

static int tear_down(void **state)
{
	struct pair *p = *state;

	close(p->guest);
	if (p->shim >= 0)
		close(p->shim);
	return 0;
}

/* Bytes as they are, with n copies of a descriptor. */
static void send_raw(int fd, const void *bytes, size_t len, size_t n)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(32 * sizeof(int))];
	} control = {0};
	struct iovec part = {(void *)(uintptr_t)bytes, len};
	struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};

	if (n > 0) {
		m.msg_control = &control;
		m.msg_controllen = CMSG_SPACE(n * sizeof(int));
		control.head = (struct cmsghdr){CMSG_LEN(n * sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
		memset(CMSG_DATA(&control.head), 0, n * sizeof(int)); /* fd 0 */
	}
	assert_int_equal(sendmsg(fd, &m, 0), (ssize_t)len);
}

static void test_message_with_descriptors(void **state)
{
	struct pair *p = *state;
	struct init_packet packet;
	char c;
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(init_socket_send(p->shim, &(struct init_message){.type = INIT_GO},
				 (int[]){ends[1], ends[0]}),
		0);
	assert_int_equal(
		init_socket_receive(p->guest, INIT_FROM_SHIM, &packet), INIT_RECEIVED_MESSAGE);
	assert_int_equal(packet.message.type, INIT_GO);
	assert_int_equal(write(packet.fds[0], "x", 1), 1);
	assert_int_equal(read(packet.fds[1], &c, 1), 1);
	assert_int_equal(fcntl(packet.fds[0], F_GETFD), FD_CLOEXEC);
	assert_int_equal(packet.fds[2], -1);
	init_packet_drop_fds(&packet);
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(count_open(), p->open_before);
}

static void test_faults_leave_nothing_open(void **state)
{
	static const char go[8] = {1, 0x41}, hello[12] = {1, 1}, longest[5000] = {1, 0x41};
	static const struct {
		const char *bytes;
		size_t len, fds;
		enum init_fault fault;
	} rows[] = {
		{go, 8, 0, INIT_FAULT_FDS},
		{go, 8, 1, INIT_FAULT_FDS},
		{go, 8, 3, INIT_FAULT_FDS},
		{go, 8, 5, INIT_FAULT_FDS},
		{go, 8, 20, INIT_FAULT_FDS},
		{go, 7, 2, INIT_FAULT_SHORT},
		{go, 0, 2, INIT_FAULT_SHORT},
		{hello, 12, 1, INIT_FAULT_TYPE},
		{longest, 4097, 2, INIT_FAULT_LONG},
		{longest, 5000, 0, INIT_FAULT_LONG},
	};
	struct pair *p = *state;
	struct init_packet packet;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		send_raw(p->shim, rows[i].bytes, rows[i].len, rows[i].fds);
		assert_int_equal(init_socket_receive(p->guest, INIT_FROM_SHIM, &packet),
			INIT_RECEIVED_FAULT);
		assert_string_equal(init_fault_text(packet.fault), init_fault_text(rows[i].fault));
		assert_int_equal(packet.fds[0], -1);
		assert_int_equal(count_open(), p->open_before);
	}
}

static void test_nothing_and_end(void **state)
{
	struct pair *p = *state;
	struct init_packet packet;

	assert_int_equal(
		init_socket_receive(p->guest, INIT_FROM_SHIM, &packet), INIT_RECEIVED_NOTHING);
	close(p->shim);
	p->shim = -1;
	assert_int_equal(init_socket_receive(p->guest, INIT_FROM_SHIM, &packet), INIT_RECEIVED_END);
	assert_int_equal(packet.error, 0);
	assert_int_equal(
		init_socket_send(p->guest, &(struct init_message){.type = INIT_STARTED}, NULL), -1);
	assert_int_equal(errno, EPIPE);
}

static void test_refuses_what_is_no_message(void **state)
{
	struct pair *p = *state;
	struct init_message m = {.type = INIT_SIGNAL, .signal = 19};

	assert_int_equal(init_socket_send(p->shim, &m, NULL), -1);
	assert_int_equal(errno, EINVAL);
	m = (struct init_message){.type = INIT_GO};
	assert_int_equal(init_socket_send(p->shim, &m, NULL), -1);
	assert_int_equal(errno, EINVAL);
}

static void test_full_socket_does_not_block(void **state)
{
	struct pair *p = *state;
	int sent = 0;

	while (init_socket_send(p->guest, &(struct init_message){.type = INIT_STARTED}, NULL) == 0)
		sent++;
	assert_int_equal(errno, EAGAIN);
	assert_true(sent > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_message_with_descriptors, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_faults_leave_nothing_open, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_nothing_and_end, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_refuses_what_is_no_message, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_full_socket_does_not_block, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
