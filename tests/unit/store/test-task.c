#include "unit/sys/unit-dir.h"

#include <sys/wait.h>

#include "store/project.h"
#include "store/query.h"
#include "store/task.h"

static struct store *store;

static int store_setup(void **state)
{
	auto_error struct error err = ERROR_INIT;

	return dir_setup(state) < 0 || store_open(path, &store, &err) < 0 ? -1 : 0;
}

static int store_teardown(void **state)
{
	store_free(store);
	return dir_teardown(state);
}

static int64_t add(const char *project, const char *title)
{
	auto_error struct error err = ERROR_INIT;
	struct store_task_new task = {project, title, "[\"true\"]"};
	int64_t id = 0;

	assert_done(store_task_add(store, &task, &id, &err), &err);
	return id;
}

static int64_t claim(const char *project, int64_t id, const char *token)
{
	auto_error struct error err = ERROR_INIT;
	int64_t got = 0;

	int r = store_task_claim(store, project, id, token, &got, &err);
	assert_true(r == 0 || r == 1);
	return r == 0 ? got : 0;
}

struct seen {
	enum store_task_state state;
	char run[32], note[32], claim[64];
};

static void keep(char *to, struct text t)
{
	memcpy(to, t.p ? t.p : "-", t.p ? t.len : 1);
	to[t.p ? t.len : 1] = '\0';
}

static void see(void *data, const struct store_task *t)
{
	struct seen *s = data;

	s->state = t->state;
	keep(s->run, t->run);
	keep(s->note, t->note);
	keep(s->claim, t->claim);
}

static void assert_task(int64_t id, enum store_task_state state, const char *run, const char *note)
{
	auto_error struct error err = ERROR_INIT;
	struct seen s;

	assert_done(store_task_show(store, "/p", id, see, &s, &err), &err);
	assert_int_equal(s.state, state);
	assert_string_equal(s.run, run);
	assert_string_equal(s.note, note);
	assert_int_equal(strcmp(s.claim, "-") != 0, state == STORE_TASK_RUNNING);
}

static int end(int64_t id, const char *token, const char *run, enum store_task_state state)
{
	auto_error struct error err = ERROR_INIT;
	struct store_task_end e = {id, token, run, state, "because"};

	return store_task_end(store, &e, &err);
}

static void test_in_order(void **state)
{
	(void)state;
	int64_t a = add("/p", "a"), b = add("/q", "b"), c = add("/p", "c");

	assert_int_equal(claim("/p", 0, "1"), a);
	assert_int_equal(claim("/p", 0, "2"), c);
	assert_int_equal(claim("/p", 0, "3"), 0);
	assert_int_equal(claim("/p", b, "3"), 0);
	assert_int_equal(claim("/q", b, "3"), b);
	assert_task(a, STORE_TASK_RUNNING, "-", "-");
}

/* An attempt is ended by who knows its run or, before that, its claim; and once. */
static void test_ends(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	int64_t a = add("/p", "a");

	assert_int_equal(end(a, "1", "run", STORE_TASK_DONE), 1);
	claim("/p", a, "1");
	assert_int_equal(end(a, "2", NULL, STORE_TASK_PENDING), 1);
	assert_int_equal(end(a, NULL, NULL, STORE_TASK_PENDING), 1);
	assert_int_equal(end(a, "2", "run", STORE_TASK_DONE), 1);
	assert_int_equal(end(a, NULL, "run", STORE_TASK_DONE), 1);
	assert_int_equal(end(a, "1", NULL, STORE_TASK_PENDING), 0);
	assert_task(a, STORE_TASK_PENDING, "-", "because");
	claim("/p", a, "2");
	assert_int_equal(store_task_link(store, "1", "run", &err), 1);
	assert_int_equal(store_task_link(store, "2", "run", &err), 0);
	assert_int_equal(store_task_link(store, "2", "other", &err), 1);
	assert_task(a, STORE_TASK_RUNNING, "run", "-");
	assert_int_equal(end(a, "2", NULL, STORE_TASK_PENDING), 1);
	assert_int_equal(end(a, "2", "other", STORE_TASK_DONE), 1);
	assert_int_equal(end(a, NULL, "run", STORE_TASK_FAILED), 0);
	assert_int_equal(end(a, NULL, "run", STORE_TASK_DONE), 1);
	assert_task(a, STORE_TASK_FAILED, "run", "because");
	assert_int_equal(claim("/p", a, "3"), 0);
	assert_int_equal(store_task_reset(store, "/q", a, &err), 1);
	assert_int_equal(store_task_reset(store, "/p", a, &err), 0);
	assert_int_equal(store_task_reset(store, "/p", a, &err), 1);
	/* The run is known by its claim only, and ends before it was linked. */
	claim("/p", a, "4");
	assert_int_equal(end(a, "4", "late", STORE_TASK_DONE), 0);
	assert_task(a, STORE_TASK_DONE, "late", "because");
	assert_int_equal(store_task_link(store, "4", "late", &err), 1);
}

static void test_ids_never_come_back(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	int64_t a = add("/p", "a");

	assert_int_equal(store_project_forget(store, "/p", &err), 0);
	assert_int_equal(store_project_forget(store, "/p", &err), 1);
	assert_int_equal(add("/p", "b"), a + 1);
}

/* Of many processes that take what is there, each gets what no other has. */
static void test_claimed_once(void **state)
{
	(void)state;
	enum { TASKS = 20, PROCESSES = 4 };
	int total = 0;

	for (int i = 0; i < TASKS; i++)
		add("/p", "x");
	for (int p = 0; p < PROCESSES; p++)
		if (fork() == 0) {
			int taken = 0;
			auto_error struct error err = ERROR_INIT;
			if (store_open(path, &store, &err) < 0)
				_exit(100);
			for (int i = 0; i < TASKS + 1; i++) {
				char token[32];
				snprintf(token, sizeof(token), "%d-%d", p, i);
				taken += claim("/p", 0, token) > 0;
			}
			_exit(taken);
		}
	for (int p = 0, status; p < PROCESSES; p++) {
		wait(&status);
		assert_true(WIFEXITED(status));
		total += WEXITSTATUS(status);
	}
	assert_int_equal(total, TASKS);
}

#define IN_STORE(f) cmocka_unit_test_setup_teardown(f, store_setup, store_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_STORE(test_in_order),
		IN_STORE(test_ends),
		IN_STORE(test_ids_never_come_back),
		IN_STORE(test_claimed_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
