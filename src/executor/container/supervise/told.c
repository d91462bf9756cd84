#include "executor/container/supervise/told.h"

#include "executor/container/supervise/mask.h"
#include "executor/container/supervise/supervisor.h"
#include "sys/clock.h"
#include "sys/log.h"

enum {
	FIRST_MS = 2000,
	EVERY_MS = 60000,
	ANSWER_MAX = 4096,
};

static void ask(void *data);

static void on_answer(void *data, const struct engine_answer *answer)
{
	struct supervisor *s = data;
	struct told *t = &s->told;

	t->call = NULL;
	if (answer->exit_code == 0) {
		t->taken = t->asked;
	} else {
		auto_free char *words = mask_words(s, answer->stderr_text);
		log_warning("what the proxy told is not in the audit trail yet: %.400s", words);
	}
	if (t->taken < s->egress.written)
		told_more(s);
}

static void ask(void *data)
{
	struct supervisor *s = data;
	struct told *t = &s->told;
	auto_error struct error err = ERROR_INIT;

	t->timer = NULL;
	t->asked_at = clock_boottime_ms();
	t->asked = s->egress.written;
	t->call = extend_call(s, "--events", ANSWER_MAX, on_answer, &err);
	if (t->call)
		return;
	log_warning("what the proxy told is not in the audit trail yet: %s", err.message);
	told_more(s);
}

void told_more(struct supervisor *s)
{
	struct told *t = &s->told;
	int64_t now = clock_boottime_ms(), at = now + FIRST_MS;

	if (t->timer || t->call)
		return;
	if (t->asked_at > 0 && t->asked_at + EVERY_MS > at)
		at = t->asked_at + EVERY_MS;
	t->timer = loop_at(s->loop, at, ask, s);
}

void told_end(struct supervisor *s)
{
	loop_remove(TAKE_PTR(s->told.timer));
	engine_call_cancel(TAKE_PTR(s->told.call));
}
