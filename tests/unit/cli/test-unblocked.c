/* Pipes, terminals and sockets that nobody reads. */
#include "unit/unit.h"

#include <sys/socket.h>
#include <sys/stat.h>

#include "cli/unblocked.h"
#include "sys/clock.h"

enum { PIECES = 1000, PIECE = 701 };

static struct text piece(void)
{
	static char bytes[PIECE];

	memset(bytes, 'x', sizeof(bytes) - 1);
	bytes[sizeof(bytes) - 1] = '\n';
	return (struct text){bytes, sizeof(bytes)};
}

/* More than any buffer holds; a write that blocks ends the test by its alarm. */
static void flood(int fd, int reader)
{
	struct unblocked u = UNBLOCKED_INIT(fd);
	char some[65536];
	int64_t began = clock_boottime_ms();

	alarm(20);
	for (unsigned i = 0; i < PIECES; i++)
		unblocked_write(&u, piece());
	assert_true(u.stuck);
	assert_in_range(clock_boottime_ms() - began, 150, 5000);
	assert_false(fcntl(fd, F_GETFL) & O_NONBLOCK);
	assert_int_equal(fcntl(reader, F_SETFL, O_NONBLOCK), 0);
	while (read(reader, some, sizeof(some)) > 0)
		clock_sleep_ms(1);
	unblocked_write(&u, piece());
	assert_false(u.stuck);
	alarm(0);
	unblocked_done(&u);
}

static void test_pipe(void **state)
{
	(void)state;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	flood(ends[1], ends[0]);
	close(ends[0]);
	close(ends[1]);
}

static void test_terminal(void **state)
{
	(void)state;
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

	assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
	int terminal = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(terminal >= 0);
	flood(terminal, master);
	close(terminal);
	close(master);
}

static void test_socket(void **state)
{
	(void)state;
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	flood(ends[1], ends[0]);
	close(ends[0]);
	close(ends[1]);
}

static void test_file(void **state)
{
	(void)state;
	FILE *f = tmpfile();
	struct unblocked u = UNBLOCKED_INIT(fileno(f));
	struct stat st;

	for (unsigned i = 0; i < PIECES; i++)
		unblocked_write(&u, piece());
	assert_int_equal(fstat(fileno(f), &st), 0);
	assert_int_equal(st.st_size, PIECES * PIECE);
	unblocked_done(&u);
	fclose(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_pipe),
		cmocka_unit_test(test_terminal), cmocka_unit_test(test_socket),
		cmocka_unit_test(test_file)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
