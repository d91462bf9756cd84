/* The kinds guest_decode, guest_exec and guest_state of container-driver.md §23.3, 10.2, 23.4. */
#include "runner/case.h"

#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "executor/container/init/init-exec.h"
#include "executor/container/init/init-message.h"
#include "guest/machine.h"

enum { HEX_BYTES_MAX = 1 << 20, RESULT_TEXT_MAX = 256 };

static json_t *malformed(void)
{
	return json_pack("{s:s}", "malformed_case", "this case does not fit its format");
}

static void add_int(json_t *o, const char *key, uint64_t value)
{
	json_object_set_new(o, key, json_integer((json_int_t)value));
}

static void add_word(json_t *o, const char *key, const char *word)
{
	json_object_set_new(o, key, json_string(word));
}

static void add_failure(json_t *o, const struct init_failure *f)
{
	add_int(o, "errno", f->error);
	add_word(o, "step", init_step_text(f->step));
	json_object_set_new(o, "found", json_boolean(f->found));
}

static void add_attach(json_t *o, const struct init_message *m)
{
	char mark[2 * INIT_MARK_BYTES + 1];
	json_t *argv = json_array();
	const char *word = m->attach.argv;

	for (unsigned i = 0; i < m->attach.argc; i++, word += strlen(word) + 1)
		json_array_append_new(argv, json_string(word));
	hex_encode(m->attach.mark, INIT_MARK_BYTES, mark);
	json_object_set_new(o, "tty", json_boolean(m->attach.tty));
	add_int(o, "rows", m->attach.rows);
	add_int(o, "cols", m->attach.cols);
	add_word(o, "mark", mark);
	json_object_set_new(o, "argv", argv);
}

static void add_fields(json_t *o, const struct init_message *m)
{
	switch (m->type) {
	case INIT_HELLO:
		add_word(o, "phase", init_phase_text(m->phase));
		return;
	case INIT_EXEC_FAILED:
	case INIT_SESSION_FAILED:
		add_failure(o, &m->failure);
		return;
	case INIT_EXIT:
		add_int(o, "wait_status", m->exit.wait_status);
		add_int(o, "user_us", m->exit.user_us);
		add_int(o, "system_us", m->exit.system_us);
		add_int(o, "maxrss_kib", m->exit.maxrss_kib);
		return;
	case INIT_SIGNALLED:
		add_int(o, "signal", m->signalled.signal);
		add_int(o, "errno", m->signalled.error);
		return;
	case INIT_SESSION_STARTED:
		json_object_set_new(o, "master", json_boolean(m->master));
		return;
	case INIT_SESSION_ENDED:
		add_int(o, "wait_status", m->ended.wait_status);
		json_object_set_new(o, "left",
			m->ended.left == INIT_LEFT_UNKNOWN
				? json_null()
				: json_integer((json_int_t)m->ended.left));
		return;
	case INIT_SIGNAL:
		add_int(o, "signal", m->signal);
		return;
	case INIT_ATTACH:
		add_attach(o, m);
		return;
	case INIT_STARTED:
	case INIT_GO:
	case INIT_SESSION_CLOSE:
		return;
	}
}

static json_t *message_to_json(const struct init_message *m)
{
	json_t *o = json_object();

	add_word(o, "type", init_type_text(m->type));
	if (m->session != 0)
		add_int(o, "session", m->session);
	add_fields(o, m);
	return o;
}

static json_t *decode(json_t *c)
{
	struct text hex = json_get_text(c, "hex"), from = json_get_text(c, "from");
	int64_t fds = json_get_int(c, "fds", 0);
	struct init_message m;

	if (!hex.p || hex.len % 2 != 0 || hex.len > HEX_BYTES_MAX || fds < 0 ||
		(!text_is(from, "guest") && !text_is(from, "shim")))
		return malformed();
	auto_free uint8_t *bytes = mem_alloc(hex.len / 2);
	if (hex_decode(hex, bytes, hex.len / 2) < 0)
		return malformed();
	enum init_side side = text_is(from, "guest") ? INIT_FROM_GUEST : INIT_FROM_SHIM;
	enum init_fault fault = init_message_decode(side, bytes, hex.len / 2, (size_t)fds, &m);
	if (fault != INIT_FAULT_NONE)
		return json_pack("{s:s}", "error", init_fault_text(fault));
	return message_to_json(&m);
}

static void run_decode(json_t *c, struct case_result *r)
{
	case_exact(r, c, decode(c));
}

static bool read_step(struct text t, enum init_step *ret)
{
	for (enum init_step s = INIT_STEP_FORK; s <= INIT_STEP_EXEC; s++)
		if (text_is(t, init_step_text(s))) {
			*ret = s;
			return true;
		}
	return false;
}

static void run_exec(json_t *c, struct case_result *r)
{
	struct init_failure f = {.error = (uint32_t)json_get_int(c, "errno", 0),
		.found = json_get_bool(c, "found", false)};

	if (!read_step(json_get_text(c, "step"), &f.step)) {
		case_exact(r, c, malformed());
		return;
	}
	enum init_exec_verdict v = init_exec_judge(&f);
	case_exact(r, c,
		json_pack("{s:s, s:i}", "code", init_exec_code(v), "cli_exit",
			init_exec_exit_status(v)));
}

/* What the words after an event's name are. */
enum operands {
	NONE,
	NUMBER,
	SESSION,
	SESSION_NUMBER,
	FAILURE,
	SESSION_FAILURE,
};

static const struct event_word {
	const char *name;
	enum event_type type;
	enum operands operands;
} event_words[] = {
	{"start", EVENT_START, NONE},
	{"timer", EVENT_TIMER, NONE},
	{"connected", EVENT_CONNECTED, NONE},
	{"connect_failed", EVENT_CONNECT_FAILED, NUMBER},
	{"lost", EVENT_LOST, NONE},
	{"go", EVENT_GO, NONE},
	{"exec_ok", EVENT_EXEC_OK, NONE},
	{"exec_failed", EVENT_EXEC_FAILED, FAILURE},
	{"signal", EVENT_SIGNAL, NUMBER},
	{"attach", EVENT_ATTACH, SESSION},
	{"session_close", EVENT_SESSION_CLOSE, SESSION},
	{"session_failed", EVENT_SESSION_FAILED, SESSION_FAILURE},
	{"session_ended", EVENT_SESSION_ENDED, SESSION_NUMBER},
	{"caught", EVENT_CAUGHT, NUMBER},
	{"child_ended", EVENT_CHILD_ENDED, NUMBER},
	{"orphan", EVENT_ORPHAN, NONE},
};

static const struct event_word *find_event(struct text name)
{
	for (size_t i = 0; i < ARRAY_SIZE(event_words); i++)
		if (text_is(name, event_words[i].name))
			return &event_words[i];
	return NULL;
}

static bool read_number(struct text *rest, uint32_t *ret)
{
	struct text word;
	uint64_t n;

	if (!text_split(rest, ' ', &word) || num_parse(word, UINT32_MAX, &n) != NUM_OK)
		return false;
	*ret = (uint32_t)n;
	return true;
}

static bool read_failure(struct text *rest, struct init_failure *f)
{
	struct text step;
	uint32_t found = 0;

	if (!read_number(rest, &f->error) || !text_split(rest, ' ', &step) ||
		!read_step(step, &f->step) || !read_number(rest, &found))
		return false;
	f->found = found != 0;
	return true;
}

static bool read_event(struct text line, struct event *e)
{
	struct text name;
	const struct event_word *w = text_split(&line, ' ', &name) ? find_event(name) : NULL;
	bool ok = w != NULL;

	if (!ok)
		return false;
	*e = (struct event){.type = w->type};
	if (w->operands == SESSION || w->operands == SESSION_NUMBER ||
		w->operands == SESSION_FAILURE)
		ok = read_number(&line, &e->session);
	if (ok && (w->operands == NUMBER || w->operands == SESSION_NUMBER))
		ok = read_number(&line, &e->number);
	if (ok && (w->operands == FAILURE || w->operands == SESSION_FAILURE))
		ok = read_failure(&line, &e->failure);
	return ok && line.p == NULL;
}

static void render_send(struct str *out, const struct init_message *m)
{
	str_addf(out, "send %s", init_type_text(m->type));
	if (m->session != 0)
		str_addf(out, " %u", m->session);
	if (m->type == INIT_HELLO)
		str_addf(out, " %s", init_phase_text(m->phase));
	if (m->type == INIT_EXIT)
		str_addf(out, " %u", m->exit.wait_status);
	if (m->type == INIT_SESSION_ENDED)
		str_addf(out, " %u", m->ended.wait_status);
	if (m->type == INIT_SIGNALLED)
		str_addf(out, " %u %u", m->signalled.signal, m->signalled.error);
	if (m->type == INIT_EXEC_FAILED || m->type == INIT_SESSION_FAILED)
		str_addf(out, " %u %s", m->failure.error, init_step_text(m->failure.step));
	if (m->type == INIT_EXEC_FAILED)
		str_addf(out, " %u", m->failure.found);
}

static void render_action(struct str *out, const struct action *a)
{
	static const struct {
		const char *name;
		enum operands operands;
	} words[] = {
		[ACTION_CONNECT] = {"connect", NONE},
		[ACTION_DISCONNECT] = {"disconnect", NONE},
		[ACTION_TIMER] = {"timer", NUMBER},
		[ACTION_UNDUMPABLE] = {"undumpable", NONE},
		[ACTION_FORK] = {"fork", NONE},
		[ACTION_KILL_GROUP] = {"kill_group", NUMBER},
		[ACTION_KILL_ALL] = {"kill_all", NONE},
		[ACTION_OPEN_SESSION] = {"open_session", SESSION},
		[ACTION_CLOSE_SESSION] = {"close_session", SESSION},
		[ACTION_EXIT] = {"exit", NUMBER},
	};

	if (a->type == ACTION_SEND) {
		render_send(out, &a->message);
		return;
	}
	str_add_text(out, words[a->type].name);
	if (words[a->type].operands == NUMBER)
		str_addf(out, " %u", a->number);
	if (words[a->type].operands == SESSION)
		str_addf(out, " %u", a->session);
}

static json_t *render_actions(const struct actions *a)
{
	json_t *list = json_array();

	for (size_t i = 0; i < a->n; i++) {
		AUTO(str) line = STR_INIT(RESULT_TEXT_MAX);
		render_action(&line, &a->list[i]);
		json_array_append_new(list, json_string(str_text(&line)));
	}
	return list;
}

static void run_state(json_t *c, struct case_result *r)
{
	auto_json *got = json_array();
	struct machine m;
	size_t i;
	json_t *item;

	machine_init(&m);
	json_array_foreach(json_object_get(c, "events"), i, item)
	{
		struct event e;
		struct actions a;
		if (!read_event(json_get_text(item, "event"), &e)) {
			case_exact(r, c, malformed());
			return;
		}
		machine_step(&m, (uint64_t)json_get_int(item, "at_ms", 0), &e, &a);
		json_array_append_new(got, render_actions(&a));
	}
	case_exact(r, c, json_incref(got));
}

static const char *const decode_fields[] = {"from", "hex", "fds", NULL};
static const char *const exec_fields[] = {"errno", "step", "found", NULL};
static const char *const state_fields[] = {"events", NULL};

const struct case_kind case_guest_kinds[] = {
	{"guest_decode", decode_fields, run_decode},
	{"guest_exec", exec_fields, run_exec},
	{"guest_state", state_fields, run_state},
	{NULL, NULL, NULL},
};
