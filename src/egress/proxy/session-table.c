#include "egress/proxy/session-table.h"

#include "base/json.h"
#include "base/mem.h"
#include "egress/proxy/conn.h"
#include "egress/proxy/credentials.h"
#include "sys/clock.h"

/* The wall clock may be set while a timer runs: looked at again before long. */
enum { LOOK_AGAIN_MS = 10000, NS_PER_MS = 1000000, REASON_MAX = 64 };

static struct session *by_id(struct proxy *p, const char *id)
{
	struct session *s;

	LIST_FOREACH(s, &p->sessions, link)
	if (strcmp(s->s.id, id) == 0)
		return s;
	return NULL;
}

struct session *session_table_find(struct proxy *p, struct text credentials, const char *listener)
{
	static const char nobody[SHA256_HEX_SIZE] = "";
	struct credentials c;

	if (!credentials.p || !credentials_read(credentials, &c))
		return NULL;
	struct session *s = by_id(p, c.id);
	/* Compared also where there is no session, so that the time does not tell. */
	bool equal = credentials_equal(c.digest, s ? s->s.token_sha256 : nobody);
	return s && equal && strcmp(s->listener, listener) == 0 ? s : NULL;
}

static int64_t realtime_ns(const struct proxy *p)
{
	return p->hooks.realtime_ns ? p->hooks.realtime_ns(p->hooks.data) : clock_realtime_ns();
}

/* By the wall clock, on which a grant ends. */
static int64_t grant_left_ms(const struct session *s)
{
	int64_t end = s->s.grant.expires_at_ns;

	return end == 0 ? INT64_MAX : (end - realtime_ns(s->proxy) + NS_PER_MS - 1) / NS_PER_MS;
}

bool session_table_expired(const struct session *s)
{
	return s->lapsed || clock_boottime_ms() >= s->s.deadline_ms || grant_left_ms(s) <= 0;
}

static void write_close(struct session *s, const char *reason)
{
	event_log_add(&s->proxy->events, &(struct event){.action = "egress.close",
						 .verdict = EGRESS_VERDICT_ALLOW,
						 .session = s->members,
						 .bytes_up = s->up.used,
						 .bytes_down = s->down.used,
						 .reason = reason});
}

static void sever(struct session *s, enum egress_verdict verdict)
{
	struct conn *c;

	while ((c = LIST_FIRST(&s->conns)))
		conn_cut(c, verdict);
}

static void look_at_clock(void *data);

static void arm(struct session *s)
{
	int64_t now = clock_boottime_ms(), left = s->s.deadline_ms - now;
	int64_t of_grant = grant_left_ms(s);

	left = left < of_grant ? left : of_grant;
	left = left < LOOK_AGAIN_MS ? left : LOOK_AGAIN_MS;
	loop_remove(TAKE_PTR(s->timer));
	s->timer = loop_at(s->proxy->loop, now + (left > 0 ? left : 0), look_at_clock, s);
}

static void look_at_clock(void *data)
{
	struct session *s = data;

	s->timer = NULL;
	if (!session_table_expired(s)) {
		arm(s);
		return;
	}
	s->lapsed = true;
	sever(s, EGRESS_VERDICT_SESSION_EXPIRED);
	write_close(s, "its deadline came");
}

static void session_free(struct session *s)
{
	sever(s, EGRESS_VERDICT_SHUTTING_DOWN);
	LIST_REMOVE(s, link);
	loop_remove(s->timer);
	egress_session_done(&s->s);
	free(s->listener);
	free(s->members);
	free(s);
}

/* ---- What the owner asks for ---- */

/* `,"grant_id":"…",…`, as it stands in each row. */
static char *render_members(const struct egress_session *s, json_t *request)
{
	static const char *const facts[] = {"executor_id", "project", "handle", "subject"};
	auto_json *members = json_pack("{s:s, s:s}", "grant_id", s->grant.id, "session", s->id);

	for (size_t i = 0; i < ARRAY_SIZE(facts); i++) {
		json_t *value = json_object_get(request, facts[i]);
		if (value && !json_is_null(value))
			json_object_set(members, facts[i], value);
	}
	auto_free char *text = json_write(members);
	return mem_printf(",%.*s", (int)strlen(text) - 2, text + 1);
}

static uint64_t tighter(uint64_t a, uint64_t b)
{
	if (a == 0 || b == 0)
		return a + b;
	return a < b ? a : b;
}

static void tighten(struct meter *m, uint64_t budget, uint64_t used)
{
	m->budget = tighter(m->budget, budget);
	m->used = m->used > used ? m->used : used;
}

/* Takes what is `given`. */
static struct session *session_new(
	struct proxy *p, struct egress_session *given, const char *listener, json_t *request)
{
	struct session *s = mem_alloc(sizeof(*s));

	s->proxy = p;
	s->listener = mem_strdup(listener);
	s->members = render_members(given, request);
	s->s = *given;
	*given = (struct egress_session){.deadline_ms = 0};
	LIST_INIT(&s->conns);
	LIST_INSERT_HEAD(&p->sessions, s, link);
	arm(s);
	return s;
}

/* It is open already: the same one, or nothing. */
static int check_same(const struct session *s, const struct egress_session *given,
	const char *listener, struct error *err)
{
	if (!credentials_equal(s->s.token_sha256, given->token_sha256))
		return error_set(err, ERROR_EGRESS_PROXY_FAILED,
			"the session %s is open with another token", s->s.id);
	if (strcmp(s->listener, listener) != 0)
		return error_set(err, ERROR_EGRESS_PROXY_FAILED,
			"the session %s is open on another listener", s->s.id);
	return 0;
}

int session_table_open(struct proxy *p, json_t *request, struct error *err)
{
	AUTO(egress_session) given = {.deadline_ms = 0};
	const struct egress_session *told = &given;
	const char *listener = json_get_string(request, "listener");

	if (!listener)
		return error_set(err, ERROR_EGRESS_PROXY_FAILED, "a session needs a listener");
	if (egress_session_read(request, &given, err) < 0)
		return -1;
	struct session *s = by_id(p, given.id);
	if (s && check_same(s, &given, listener, err) < 0)
		return -1;
	if (!s) {
		s = session_new(p, &given, listener, request);
		told = &s->s;
	}
	tighten(&s->up, told->grant.max_bytes_up, told->bytes_up);
	tighten(&s->down, told->grant.max_bytes_down, told->bytes_down);
	return 0;
}

static struct session *named(struct proxy *p, json_t *request)
{
	const char *id = json_get_string(request, "session");

	return id ? by_id(p, id) : NULL;
}

int session_table_renew(struct proxy *p, json_t *request, struct error *err)
{
	struct session *s = named(p, request);
	int64_t deadline = json_get_int(request, "deadline_boottime_ms", 0);

	if (!s || session_table_expired(s))
		return error_set(err, ERROR_EGRESS_PROXY_FAILED,
			"there is no such session, or it has lapsed");
	if (deadline > s->s.deadline_ms)
		s->s.deadline_ms = deadline;
	return 0;
}

static json_t *counters(const struct session *s)
{
	return json_pack("{s:I, s:I, s:I}", "bytes_up", (json_int_t)s->up.used, "bytes_down",
		(json_int_t)s->down.used, "connections", (json_int_t)s->n_conns);
}

json_t *session_table_close(struct proxy *p, json_t *request)
{
	struct session *s = named(p, request);
	struct text reason = json_get_text(request, "reason");

	if (!s)
		return json_pack("{s:b}", "known", 0);
	sever(s, EGRESS_VERDICT_DENIED);
	json_t *answer = counters(s);
	bool plain = reason.p && reason.len <= REASON_MAX && text_all_word(reason, "_- ");
	if (!s->lapsed)
		write_close(s,
			plain ? json_string_value(json_object_get(request, "reason")) : "closed");
	session_free(s);
	return answer;
}

json_t *session_table_stats(struct proxy *p)
{
	json_t *list = json_array();
	struct session *s;

	LIST_FOREACH(s, &p->sessions, link)
	{
		json_t *one = counters(s);
		json_object_set_new(one, "session", json_string(s->s.id));
		json_array_append_new(list, one);
	}
	return json_pack("{s:o}", "sessions", list);
}

void session_table_drop_all(struct proxy *p)
{
	while (!LIST_EMPTY(&p->sessions))
		session_free(LIST_FIRST(&p->sessions));
}
