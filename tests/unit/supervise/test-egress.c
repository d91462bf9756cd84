/* What a proxy says, as it is kept: it may have been taken over by those it serves. */
#include "unit/sys/unit-dir.h"

#include "base/json.h"
#include "executor/container/supervise/supervisor.h"

/* The lines of the events file once the proxy has said this and the session is closed. */
static void keep(struct text said, struct str *ret)
{
	auto_error struct error err = ERROR_INIT;
	struct supervisor s = {.run = {.fd = dir, .path = path}, .egress = EGRESS_INIT};
	int ends[2];

	s.loop = loop_new(&err);
	s.record = json_pack("{s:{s:n}}", "egress", "reason");
	assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	assert_int_equal(write(ends[1], said.p, said.len), said.len);
	s.egress.owner.events = ends[0];
	egress_close(&s, "run_ended");
	egress_done(&s);
	assert_int_equal(file_read_at(dir, EGRESS_EVENTS_FILE, 1 << 20, ret), 0);
	close(ends[1]);
	json_decref(s.record);
	loop_free(s.loop);
}

static void test_bytes(void **state)
{
	static const char said[] = "{}\n\0 a line that begins with nothing\n{\"a\":\0}\n";
	AUTO(str) kept = STR_INIT(1 << 20);
	struct text whole = {said, sizeof(said) - 1};

	(void)state;
	keep(whole, &kept);
	assert_int_equal(kept.len, whole.len);
	assert_memory_equal(str_text(&kept), whole.p, whole.len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {IN_DIR(test_bytes)};

	return cmocka_run_group_tests_name("egress", tests, NULL, NULL);
}
