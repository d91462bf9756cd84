#include "sys/fault.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/text.h"
#include "sys/clock.h"
#include "sys/env.h"
#include "sys/log.h"

enum action { ACTION_FAIL, ACTION_KILL, ACTION_STOP, ACTION_SLEEP };
enum { SLEEP_MAX_MS = 3600000, COUNT_MAX = 1000000 };

static enum { UNREAD, INERT, ARMED } state = UNREAD;
static struct {
	char *point;
	uint64_t at; /* counts down */
	enum action action;
	uint64_t sleep_ms;
} armed;

static bool parse_action(struct text t)
{
	static const char *const names[] = {"fail", "kill", "stop"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (text_is(t, names[i])) {
			armed.action = (enum action)i;
			return true;
		}
	}
	armed.action = ACTION_SLEEP;
	return text_starts(t, "sleep:") &&
	       num_parse(text_after(t, strlen("sleep:")), SLEEP_MAX_MS, &armed.sleep_ms) == NUM_OK;
}

/* Cuts `:N` off the end of *point if it is there. */
static bool parse_count(struct text *point)
{
	const char *colon = point->len ? memrchr(point->p, ':', point->len) : NULL;

	armed.at = 1;
	if (!colon)
		return true;
	struct text name = {point->p, (size_t)(colon - point->p)};
	struct text digits = text_after(*point, name.len + 1);
	if (digits.len == 0 || !ascii_digit(digits.p[digits.len - 1]))
		return true;
	enum num_result r = num_parse(digits, COUNT_MAX, &armed.at);
	if (r == NUM_MALFORMED)
		armed.at = 1;
	else
		*point = name;
	return armed.at > 0 && r != NUM_TOO_LARGE;
}

void fault_arm(const char *text)
{
	struct text rest = text_of(text), point;

	state = INERT;
	free(TAKE_PTR(armed.point));
	if (!text || !text_split(&rest, '=', &point))
		return;
	armed.action = ACTION_FAIL;
	if ((rest.p && !parse_action(rest)) || !parse_count(&point) || point.len == 0) {
		log_warning("CLOOP_FAULT is not point[:N][=fail|kill|stop|sleep:MS]: %s",
			quoted_string(text));
		return;
	}
	armed.point = mem_strndup(point.p, point.len);
	state = ARMED;
}

bool fault_armed(void)
{
	return state == ARMED;
}

static bool act(void)
{
	switch (armed.action) {
	case ACTION_FAIL:
		return true;
	case ACTION_KILL:
		raise(SIGKILL);
		break;
	case ACTION_STOP:
		raise(SIGSTOP);
		break;
	case ACTION_SLEEP:
		clock_sleep_ms((int64_t)armed.sleep_ms);
		break;
	}
	return false;
}

bool fault_hit(const char *point)
{
	if (__builtin_expect(state == INERT, 1))
		return false;
	if (state == UNREAD)
		fault_arm(getauxval(AT_SECURE) ? NULL : env_get("CLOOP_FAULT"));
	if (state != ARMED || strcmp(point, armed.point) != 0 || --armed.at > 0)
		return false;
	state = INERT;
	return act();
}
