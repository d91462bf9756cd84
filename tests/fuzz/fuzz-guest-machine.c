/*
 * Any order of events: nothing is sent without a connection, nothing runs before `go`, nothing
 * happens after an exit, and never more is said than the list of actions holds.
 */
#include <assert.h>

#include "guest/machine.h"

struct world {
	bool connected, forked, gone;
	unsigned sessions;
};

static void check_action(struct world *w, const struct action *a)
{
	uint8_t bytes[INIT_MESSAGE_MAX];

	assert(!w->gone);
	switch (a->type) {
	case ACTION_SEND:
		assert(w->connected);
		assert(init_message_encode(&a->message, bytes) > 0);
		assert(w->forked || a->message.type == INIT_HELLO);
		break;
	case ACTION_FORK:
		assert(!w->forked);
		w->forked = true;
		break;
	case ACTION_KILL_GROUP:
	case ACTION_KILL_ALL:
	case ACTION_OPEN_SESSION:
	case ACTION_CLOSE_SESSION:
		assert(w->forked);
		break;
	case ACTION_EXIT:
		w->gone = true;
		break;
	case ACTION_DISCONNECT:
		w->connected = false;
		break;
	case ACTION_TIMER:
		assert(a->number >= 100 && a->number <= 2000);
		break;
	case ACTION_CONNECT:
	case ACTION_UNDUMPABLE:
		break;
	}
}

/* What cannot come out of the decoder or the kernel is brought into its range. */
static struct event make_event(const uint8_t *p)
{
	static const uint8_t signals[] = {1, 2, 3, 9, 10, 12, 15, 15};
	struct event e = {.type = (enum event_type)(p[0] % (EVENT_ORPHAN + 1)),
		.session = 1 + p[1] % 6,
		.number = p[2],
		.failure = {1U + p[2], (enum init_step)(p[1] % 3), p[1] & 1}};

	if (e.type == EVENT_SIGNAL || e.type == EVENT_CAUGHT)
		e.number = signals[p[2] % sizeof(signals)];
	if (e.type == EVENT_CHILD_ENDED || e.type == EVENT_SESSION_ENDED)
		e.number = p[1] & 1 ? (uint32_t)p[2] << 8 : 1U + p[2] % 126;
	if (e.type == EVENT_CAUGHT && e.number == 9)
		e.number = 1;
	return e;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct machine m;
	struct world w = {0};
	uint64_t now = 0;

	machine_init(&m);
	for (; size >= 4; data += 4, size -= 4) {
		struct event e = make_event(data);
		struct actions a;
		now += (uint64_t)data[3] * 16;
		if (m.state != MACHINE_STARTING && e.type == EVENT_CONNECTED)
			w.connected = true;
		if (m.state != MACHINE_STARTING && e.type == EVENT_LOST)
			w.connected = false;
		if ((e.type == EVENT_EXEC_OK || e.type == EVENT_EXEC_FAILED) &&
			m.state != MACHINE_STARTING)
			continue;
		machine_step(&m, now, &e, &a);
		assert(a.n <= MACHINE_ACTIONS_MAX && m.n_sessions <= MACHINE_SESSIONS_MAX);
		for (size_t i = 0; i < a.n; i++)
			check_action(&w, &a.list[i]);
		assert(w.gone == (m.state == MACHINE_GONE));
	}
	return 0;
}
