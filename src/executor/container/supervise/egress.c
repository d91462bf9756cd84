#include "executor/container/supervise/egress.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/mem.h"
#include "executor/container/supervise/mask.h"
#include "executor/container/supervise/supervisor.h"
#include "sys/clock.h"
#include "sys/fault.h"
#include "sys/log.h"
#include "sys/pipe.h"
#include "sys/program.h"

enum {
	REFUSALS_ROOM = EGRESS_EVENTS_MAX / 4,
	CHECKPOINT_MS = 60000,
	SOON_MS = 1000,
};

#define LISTENER "run"
#define RECORD "egress"
#define DEADLINE "egress_deadline_boottime_ms" /* of what only supervisors read */

/* ---- On record ---- */

static json_t *record_of(struct supervisor *s)
{
	return json_object_get(s->record, RECORD);
}

static void record_open(struct supervisor *s)
{
	const struct egress_session *session = &s->plan.egress.session;
	char address[INET6_ADDRSTRLEN];

	address_text(&s->egress.at.address, address);
	json_object_set_new(s->record, RECORD,
		json_pack("{s:s, s:s, s:s, s:i, s:I, s:I, s:n}", "session", session->id, "grant",
			session->grant.id, "address", address, "port", (int)s->egress.at.port,
			"bytes_up", (json_int_t)session->bytes_up, "bytes_down",
			(json_int_t)session->bytes_down, "reason"));
	json_object_set_new(
		record_supervision(s->record), DEADLINE, json_integer(s->egress.deadline_ms));
}

/* Counters only grow; did they? */
static bool record_bytes(struct supervisor *s, const json_t *told)
{
	static const char *const keys[] = {"bytes_up", "bytes_down"};
	bool grown = false;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		int64_t now = json_get_int(told, keys[i], 0);
		if (now <= json_get_int(record_of(s), keys[i], 0))
			continue;
		json_object_set_new(record_of(s), keys[i], json_integer(now));
		grown = true;
	}
	return grown;
}

static bool is_open(struct supervisor *s)
{
	return record_of(s) && json_is_null(json_object_get(record_of(s), "reason"));
}

/* ---- What the proxy says ---- */

static int open_events(const struct supervisor *s)
{
	return openat(s->run.fd, EGRESS_EVENTS_FILE,
		O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
}

static bool is_refusal(struct text line)
{
	auto_error struct error ignored = ERROR_INIT;
	auto_json *event = json_read(line, EGRESS_EVENT_MAX, "an event", ERROR_IO, &ignored);

	return text_is(json_get_text(event, "decision"), "deny");
}

static bool has_room(const struct egress *e, struct text line)
{
	size_t after = e->written + line.len + 1;

	if (after <= EGRESS_EVENTS_MAX - REFUSALS_ROOM)
		return true;
	return after <= EGRESS_EVENTS_MAX && is_refusal(line);
}

static void keep_line(struct supervisor *s, struct text line)
{
	struct egress *e = &s->egress;

	if (line.len == 0)
		return;
	auto_fd int fd = has_room(e, line) ? open_events(s) : -1;
	AUTO(str) whole = STR_INIT(line.len + 1);
	str_add(&whole, line.p, line.len);
	str_add(&whole, "\n", 1);
	ssize_t n = fd < 0 ? -1 : write(fd, whole.data, whole.len);
	if (n == (ssize_t)line.len + 1) {
		e->written += line.len + 1;
		told_more(s);
		return;
	}
	e->lost++;
	/* A piece of a line would take the next one with it. */
	if (n > 0 && ftruncate(fd, (off_t)e->written) < 0)
		log_warning("the events of the egress proxy: %s", strerror(errno));
}

/* What a supervisor left that died; a line that it did not finish ends here. */
static void find_events(struct supervisor *s)
{
	auto_fd int fd = open_events(s);
	struct stat st;
	char last = '\n';

	if (fd < 0 || fstat(fd, &st) < 0)
		return;
	s->egress.written = (size_t)st.st_size;
	if (st.st_size > 0 && pread(fd, &last, 1, st.st_size - 1) == 1 && last != '\n')
		s->egress.written += write(fd, "\n", 1) == 1;
}

static void tell_restored(struct supervisor *s)
{
	const struct egress_session *session = &s->plan.egress.session;
	char now[CLOCK_TEXT_SIZE];

	clock_format_ns(clock_realtime_ns(), now);
	auto_json *event = json_pack("{s:s, s:s, s:s, s:s, s:s, s:O, s:O}", "time", now, "action",
		"egress.restore", "decision", "allow", "actor", "cloop-shim", "session",
		session->id, "bytes_up", json_object_get(record_of(s), "bytes_up"), "bytes_down",
		json_object_get(record_of(s), "bytes_down"));
	auto_free char *line = json_write(event);
	keep_line(s, text_of(line));
}

/* What is in the pipe now. */
static void read_events(struct supervisor *s)
{
	struct egress *e = &s->egress;
	size_t left = pipe_waiting(e->owner.events);
	char bytes[EGRESS_EVENT_MAX];
	size_t n;

	while ((n = pipe_read(e->owner.events, bytes, sizeof(bytes), &left)) > 0) {
		struct text rest = {bytes, n}, line;
		for (bool first = true; text_split(&rest, '\n', &line); first = false) {
			if (!first) {
				keep_line(s, (struct text){str_text(&e->line), e->line.len});
				str_reset(&e->line);
			}
			str_add(&e->line, line.p, line.len);
		}
	}
}

static void checkpoint(void *data);

static void ask_in(struct supervisor *s, int64_t ms)
{
	struct egress *e = &s->egress;

	loop_remove(TAKE_PTR(e->checkpoint));
	e->checkpoint = loop_at(s->loop, clock_boottime_ms() + ms, checkpoint, s);
	e->soon = ms == SOON_MS;
}

static void on_events(void *data, uint32_t events)
{
	struct supervisor *s = data;

	(void)events;
	read_events(s);
	if (s->egress.up && !s->egress.soon)
		ask_in(s, SOON_MS);
}

/* Nobody serves the port any more: connections are refused, not kept waiting. */
static void take_down(struct supervisor *s)
{
	struct egress *e = &s->egress;

	loop_remove(TAKE_PTR(e->events));
	loop_remove(TAKE_PTR(e->ended));
	loop_remove(TAKE_PTR(e->checkpoint));
	if (e->listen_fd >= 0)
		close(e->listen_fd);
	e->listen_fd = -1;
	e->up = false;
	egress_owner_done(&e->owner);
	e->owner = EGRESS_OWNER_INIT;
}

static void record_failure(struct supervisor *s, const char *why)
{
	supervisor_note(s, "the egress proxy of this run failed: nothing is reached through it");
	record_warn(s->record, "egress_proxy_failed",
		"the egress proxy failed (%s): from then on nothing was reached through it", why);
	if (record_of(s))
		json_object_set_new(record_of(s), "reason", json_string("proxy_failed"));
	supervisor_persist(s, false);
}

static void fail(struct supervisor *s, const char *why)
{
	read_events(s);
	take_down(s);
	record_failure(s, why);
}

static void on_ended(void *data, uint32_t events)
{
	(void)events;
	fail(data, "it ended");
}

static void checkpoint(void *data)
{
	struct supervisor *s = data;
	struct egress *e = &s->egress;
	auto_error struct error err = ERROR_INIT;
	auto_json *stats = NULL;
	bool grown = false;
	size_t i;
	json_t *one;

	e->checkpoint = NULL;
	ask_in(s, CHECKPOINT_MS);
	if (egress_owner_stats(&e->owner, &stats, &err) < 0) {
		fail(s, err.message);
		return;
	}
	json_array_foreach(json_object_get(stats, "sessions"), i,
		one) if (text_is(json_get_text(one, "session"), s->plan.egress.session.id)) grown |=
		record_bytes(s, one);
	if (grown)
		supervisor_persist(s, false);
}

/* ---- Up ---- */

static int serve(struct supervisor *s, const struct egress_session *session, struct error *err)
{
	struct egress *e = &s->egress;
	auto_free char *program = program_path("cloop-egress");
	struct egress_owner_facts facts = {
		.handle = s->run.handle,
		.project = s->plan.project,
		.executor_id = s->plan.executor_id,
		.subject = session->grant.subject.text,
	};

	if (fault_hit("egress:start"))
		return error_set(err, ERROR_EGRESS_PROXY_FAILED, "fault injected");
	if (egress_owner_start(program, &e->owner, err) < 0 ||
		egress_owner_add_listener(&e->owner, LISTENER, e->listen_fd, err) < 0 ||
		egress_owner_open(&e->owner, session, LISTENER, &facts, err) < 0)
		return -1;
	e->up = true;
	e->events = loop_watch(s->loop, e->owner.events, EPOLLIN, on_events, s);
	e->ended = loop_watch(s->loop, e->owner.proxy.pidfd, EPOLLIN, on_ended, s);
	ask_in(s, CHECKPOINT_MS);
	return 0;
}

/* The copy of the plan's session that is opened: with the deadline and counters of now. */
static int open_session(struct supervisor *s, struct error *err)
{
	struct egress_session session = s->plan.egress.session;

	session.deadline_ms = s->egress.deadline_ms;
	session.bytes_up = (uint64_t)json_get_int(record_of(s), "bytes_up", 0);
	session.bytes_down = (uint64_t)json_get_int(record_of(s), "bytes_down", 0);
	return serve(s, &session, err);
}

/* The token as it stands in the URL, and as clients write it into a request. */
static int mask_token(struct supervisor *s, struct text token, struct error *err)
{
	struct secret pair, digits;

	SECRET_CONCAT(&pair, text_of(s->plan.egress.session.id), TEXT(":"), token);
	base64_encode(secret_text(&pair), &digits);
	int r = mask_value(s, token, err) < 0 ? -1 : mask_value(s, secret_text(&digits), err);
	secret_done(&pair);
	secret_done(&digits);
	return r;
}

/* Into the environment of the engine call, and into what must arrive (§9.6); and masked. */
static int give_url(struct supervisor *s, struct error *err)
{
	const char *id = s->plan.egress.session.id;
	auto_free char *pending = plan_egress_pending_url(id);
	struct text token = s->launch.egress_token;
	char at[ENDPOINT_TEXT_SIZE];
	struct secret url;

	endpoint_text(&s->egress.at, at);
	SECRET_CONCAT(&url, TEXT("http://"), text_of(id), TEXT(":"), token, TEXT("@"), text_of(at));
	launch_replace(&s->launch, &s->launch.env_file, pending, secret_text(&url));
	for (size_t i = 0; i < s->launch.expected.n; i++)
		launch_replace(&s->launch, &s->launch.expected.v[i], pending, secret_text(&url));
	int r = mask_value(s, secret_text(&url), err) < 0 ? -1 : mask_token(s, token, err);
	secret_done(&url);
	return r;
}

static int bring_up(struct supervisor *s, struct error *err)
{
	s->egress.listen_fd = egress_owner_listen(&s->egress.at.address, &s->egress.at, err);
	return s->egress.listen_fd < 0 ? -1 : open_session(s, err);
}

int egress_listen(struct supervisor *s, const struct address *address, struct endpoint *ret,
	struct error *err)
{
	struct egress *e = &s->egress;

	e->at = (struct endpoint){.address = *address};
	e->deadline_ms = s->launch.egress_deadline_ms;
	if (bring_up(s, err) < 0 || give_url(s, err) < 0) {
		take_down(s);
		if (error_is(err, ERROR_SANDBOX_EGRESS_UNAVAILABLE))
			return -1;
		auto_free char *why = mem_strdup(err->message);
		error_clear(err);
		return error_set(err, ERROR_SANDBOX_EGRESS_UNAVAILABLE,
			"the egress proxy of the run could not start: %s", why);
	}
	record_open(s);
	supervisor_persist(s, false);
	*ret = e->at;
	return 0;
}

int egress_listen_configured(struct supervisor *s, struct error *err)
{
	const struct plan_egress *p = &s->plan.egress;
	struct address address;
	struct endpoint at;

	if (!p->present || !p->address || !address_parse(text_of(p->address), &address))
		return 0;
	return egress_listen(s, &address, &at, err);
}

/* ---- A new supervisor ---- */

/* http://ID:TOKEN@… */
static struct text token_of(const char *url)
{
	const char *colon = strchr(url + strcspn(url, "_"), ':');
	const char *at = colon ? strchr(colon, '@') : NULL;

	return at ? (struct text){colon + 1, (size_t)(at - colon - 1)} : (struct text){.p = NULL};
}

int egress_mask(struct supervisor *s, const struct strv *env, struct error *err)
{
	static const char name[] = "HTTP_PROXY=";

	if (!s->plan.egress.present)
		return 0;
	strv_foreach (entry, env) {
		struct text token = {.p = NULL};
		if (strncmp(*entry, name, strlen(name)) == 0)
			token = token_of(*entry + strlen(name));
		if (token.p && mask_token(s, token, err) < 0)
			return -1;
	}
	return 0;
}

/* The port may be held until the last process of the dead supervisor is gone. */
static int bring_up_again(struct supervisor *s, struct error *err)
{
	enum { TRIES = 20, PAUSE_MS = 25 };

	for (unsigned i = 0;; i++) {
		if (bring_up(s, err) == 0)
			return 0;
		take_down(s);
		if (i == TRIES)
			return -1;
		error_clear(err);
		clock_sleep_ms(PAUSE_MS);
	}
}

void egress_restore(struct supervisor *s)
{
	struct egress *e = &s->egress;
	auto_error struct error err = ERROR_INIT;
	struct text address = json_get_text(record_of(s), "address");

	if (!s->plan.egress.present || !is_open(s))
		return;
	if (!address.p || !address_parse(address, &e->at.address))
		return;
	e->at.port = (uint16_t)json_get_int(record_of(s), "port", 0);
	e->deadline_ms = json_get_int(
		record_supervision(s->record), DEADLINE, s->plan.egress.session.deadline_ms);
	find_events(s);
	if (bring_up_again(s, &err) < 0)
		record_failure(s, err.message);
	else
		tell_restored(s);
}

/* ---- Going on, and the end ---- */

void egress_renew(struct supervisor *s, const char *session, int64_t deadline_ms)
{
	struct egress *e = &s->egress;
	auto_error struct error err = ERROR_INIT;

	if (!e->up || strcmp(session, s->plan.egress.session.id) != 0 ||
		deadline_ms <= e->deadline_ms)
		return;
	if (egress_owner_renew(&e->owner, session, deadline_ms, &err) < 0) {
		fail(s, err.message);
		return;
	}
	e->deadline_ms = deadline_ms;
	json_object_set_new(record_supervision(s->record), DEADLINE, json_integer(deadline_ms));
}

void egress_close(struct supervisor *s, const char *reason)
{
	struct egress *e = &s->egress;
	auto_error struct error err = ERROR_INIT;
	struct egress_counters end = {.bytes_up = 0};

	if (!is_open(s))
		return;
	if (e->up &&
		egress_owner_close(&e->owner, s->plan.egress.session.id, reason, &end, &err) < 0)
		log_warning("%s", err.message);
	auto_json *told = json_pack("{s:I, s:I}", "bytes_up", (json_int_t)end.bytes_up,
		"bytes_down", (json_int_t)end.bytes_down);
	(void)record_bytes(s, told);
	json_object_set_new(record_of(s), "reason", json_string(reason));
	/* It serves nobody else: without it the port is refused at once. */
	loop_remove(TAKE_PTR(e->ended));
	loop_remove(TAKE_PTR(e->events));
	read_events(s);
	if (e->up) {
		egress_owner_stop(&e->owner);
		read_events(s);
	}
	take_down(s);
	if (e->lost > 0)
		record_warn(s->record, "egress_events_lost",
			"%llu rows of the egress proxy did not fit into the audit trail",
			(unsigned long long)e->lost);
	e->lost = 0;
	supervisor_persist(s, false);
}

void egress_end(struct supervisor *s)
{
	egress_close(s, "run_ended");
	take_down(s);
	told_end(s);
}

void egress_done(struct supervisor *s)
{
	take_down(s);
	told_end(s);
	str_done(&s->egress.line);
}
