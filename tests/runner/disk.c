/* The kinds of area disk that judge (disk-and-secrets.md §2, §4.3, §6-§8, §10, §11). */
#include "runner/case.h"

#include "base/mem.h"
#include "limits/disk-breach.h"
#include "limits/disk-floor.h"
#include "limits/disk-limit.h"
#include "limits/disk-schedule.h"
#include "limits/disk-stop.h"
#include "limits/disk-unknown.h"
#include "limits/render.h"
#include "limits/walk-mounts.h"
#include "limits/walk.h"

enum { CEILINGS_MAX = 16 };

static uint64_t number(const json_t *c, const char *key)
{
	int64_t n = json_get_int(c, key, 0);

	return n > 0 ? (uint64_t)n : 0;
}

/* ---- schedule, schedule_unknown, loop ---- */

static struct disk_schedule schedule_of(json_t *c)
{
	json_t *s = json_object_get(c, "schedule");

	return (struct disk_schedule){
		.min_ms = json_get_int(s, "min_ms", 0),
		.max_ms = json_get_int(s, "max_ms", 0),
		.first_ms = json_get_int(s, "first_ms", 0),
		.cost_factor = json_get_int(s, "cost_factor", 0),
	};
}

static struct disk_sample sample_of(json_t *j)
{
	return (struct disk_sample){
		.bytes = number(j, "bytes"),
		.cost_ms = json_get_int(j, "cost_ms", 0),
		.at_ms = json_get_int(j, "at_ms", 0),
	};
}

/* These name what they expect in a member of their own. */
static void expect_wait(struct case_result *r, json_t *c, int64_t wait)
{
	r->got = json_integer(wait);
	r->ok = json_equal(r->got, json_object_get(c, "expect_wait_ms"));
}

static void run_schedule(json_t *c, struct case_result *r)
{
	struct disk_schedule s = disk_schedule_resolve(schedule_of(c));
	json_t *prev = json_object_get(c, "prev");
	struct disk_sample cur = sample_of(json_object_get(c, "cur")), before = sample_of(prev);

	expect_wait(r, c,
		disk_schedule_next(
			&s, &cur, json_is_object(prev) ? &before : NULL, number(c, "limit_mb")));
}

static void run_schedule_unknown(json_t *c, struct case_result *r)
{
	struct disk_schedule s = disk_schedule_resolve(schedule_of(c));

	expect_wait(r, c, disk_schedule_after_unknown(&s, json_get_int(c, "cost_ms", 0)));
}

static void say(json_t *list, const char *what, int64_t ms)
{
	json_array_append_new(list, json_pack("[s, I]", what, (json_int_t)ms));
}

/* Carries a step out on the fake clock; false when the loop is over. */
static bool carry_out(struct disk_step step, json_t *list, int64_t *now)
{
	if (step.action == DISK_RETURN)
		return false;
	if (step.action == DISK_UNKNOWN)
		say(list, "unknown", 0);
	say(list, "wait", step.wait_ms);
	*now += step.wait_ms;
	return true;
}

static void run_loop(json_t *c, struct case_result *r)
{
	struct disk_loop l;
	json_t *initial = json_object_get(c, "initial"), *got = json_array(), *m;
	struct disk_sample first = sample_of(initial);
	int64_t now = disk_loop_begin(
		&l, schedule_of(c), number(c, "limit_mb"), json_is_object(initial) ? &first : NULL);
	size_t i;

	say(got, "wait", now);
	json_array_foreach(json_object_get(c, "measures"), i, m)
	{
		struct disk_measure measure = {
			.sample = sample_of(m),
			.incomplete = json_is_string(json_object_get(m, "error")),
			.ended = json_get_bool(m, "ended", false),
		};
		measure.sample.at_ms = now;
		struct disk_step step = disk_loop_measured(&l, &measure);
		if (step.action == DISK_BREACH) {
			say(got, "breach", 0);
			step = disk_loop_stopped(&l, json_get_bool(m, "stopped", true));
		} else if (step.action == DISK_RETURN) {
			say(got, "return", 0);
		}
		if (!carry_out(step, got, &now))
			break;
	}
	case_exact(r, c, got);
}

/* ---- used, limit_text, source, breach, bounds, unknown_streak ---- */

static void run_used(json_t *c, struct case_result *r)
{
	int64_t used = json_get_int(c, "used_bytes", 0);
	bool over = used > 0 && disk_limit_over((uint64_t)used, number(c, "limit_mb"));

	case_exact(r, c,
		json_pack("{s:I, s:b}", "used_mb", (json_int_t)disk_limit_used_mb(used), "over",
			over));
}

static void run_limit_text(json_t *c, struct case_result *r)
{
	auto_free char *text = render_mb(number(c, "limit_mb"));

	case_exact(r, c, json_string(text));
}

static void run_source(json_t *c, struct case_result *r)
{
	json_t *list = json_object_get(c, "ceilings_mb"), *value;
	uint64_t ceilings[CEILINGS_MAX];
	size_t i, n = 0;

	json_array_foreach(list, i, value) if (n < CEILINGS_MAX) ceilings[n++] =
		(uint64_t)json_integer_value(value);
	struct disk_limit l =
		disk_limit_resolve(number(c, "spec_mb"), ceilings, n, json_get_text(c, "label"));
	case_exact(r, c,
		json_pack("{s:I, s:s}", "limit_mb", (json_int_t)l.limit_mb, "source", l.source));
}

static void run_breach(json_t *c, struct case_result *r)
{
	json_t *input = json_object_get(c, "input");
	AUTO(disk_breach) b = DISK_BREACH_INIT;

	if (disk_breach_read(
		    json_get_text(input, "outcome"), json_object_get(input, "breach"), &b) == 0)
		case_exact(r, c, disk_breach_to_json(&b));
	else
		case_exact(r, c, json_null());
}

static uint64_t arg(json_t *c, size_t i)
{
	return (uint64_t)json_integer_value(json_array_get(json_object_get(c, "args"), i));
}

static void run_entries_bound(json_t *c, struct case_result *r)
{
	case_exact(r, c, json_integer((json_int_t)disk_limit_entries(arg(c, 0))));
}

static void run_quota_bound(json_t *c, struct case_result *r)
{
	case_exact(r, c, json_integer((json_int_t)disk_limit_quota(arg(c, 0), arg(c, 1))));
}

static void run_unknown_streak(json_t *c, struct case_result *r)
{
	struct disk_unknown u = {0};
	json_t *got = json_array(), *s;
	size_t i;

	json_array_foreach(json_object_get(c, "samples"), i, s)
	{
		int reason = walk_reason_from_text(json_get_text(s, "error"));
		if (reason > WALK_COMPLETE)
			disk_unknown_incomplete(&u, reason == WALK_UNREADABLE, number(s, "bytes"),
				number(c, "limit_mb"));
		else
			disk_unknown_complete(&u);
		json_array_append_new(got, json_string(u.unknown ? "unknown" : "ok"));
	}
	case_exact(r, c, got);
}

/* ---- credit, kill ---- */

static void run_credit(json_t *c, struct case_result *r)
{
	json_t *e = json_object_get(c, "end");
	struct disk_end end = {
		.breach = json_get_bool(e, "breach", false),
		.exit = json_get_int(e, "exit", -1),
		.killed = text_is(json_get_text(e, "state"), "killed"),
		.oom = json_get_bool(e, "oom", false),
		.other_kill = json_is_string(json_object_get(e, "other_kill")),
	};

	case_exact(r, c, json_boolean(disk_stop_credit(&end)));
}

static void run_kill(json_t *c, struct case_result *r)
{
	int seen = disk_seen_from_text(json_get_text(c, "inspect"));
	struct disk_schedule s = disk_schedule_resolve((struct disk_schedule){0});
	struct disk_kill k = disk_stop_judge(json_get_int(c, "kill_rc", -1) == 0,
		seen < 0 ? DISK_SEEN_UNKNOWN : (enum disk_seen)seen);

	case_exact(r, c,
		json_pack("{s:b, s:b, s:I}", "stopped", k.stopped, "breach_kept", k.breach_kept,
			"retry_ms", (json_int_t)(k.retry ? s.min_ms : 0)));
}

/* ---- mountpoints, unescape ---- */

static void run_mountpoints(json_t *c, struct case_result *r)
{
	AUTO(strv) list = STRV_INIT(WALK_MOUNTS_MAX);
	bool fits = walk_mounts_below(
			    json_get_text(c, "mountinfo"), json_get_text(c, "root"), &list) == 0;

	case_exact(r, c, fits ? json_from_strings(list.v, list.n) : json_null());
}

static void run_unescape(json_t *c, struct case_result *r)
{
	auto_free char *text = walk_mounts_unescape(json_get_text(c, "text"));

	case_exact(r, c, json_from_bytes(text_of(text)));
}

/* ---- floor, floor_key ---- */

static void run_floor(json_t *c, struct case_result *r)
{
	struct disk_floor f = {.floor_mb = number(c, "floor_mb")};
	json_t *got = json_array(), *reading;
	size_t i;

	json_array_foreach(json_object_get(c, "free_mb"), i, reading)
	{
		disk_floor_step(&f, json_is_integer(reading) ? json_integer_value(reading) : -1);
		json_array_append_new(got, json_string(f.paused ? "paused" : "run"));
	}
	case_exact(r, c, got);
}

static void run_floor_key(json_t *c, struct case_result *r)
{
	bool ok = disk_floor_valid(json_get_int(c, "value", -1));

	case_exact(r, c, json_string(ok ? "ok" : error_code_text(ERROR_OUT_OF_RANGE)));
}

#define FIELDS(...) ((const char *const[]){__VA_ARGS__, NULL})

const struct case_kind case_disk_kinds[] = {
	{"schedule", FIELDS("cur", "prev", "limit_mb", "schedule", "expect_wait_ms"), run_schedule},
	{"schedule_unknown", FIELDS("cost_ms", "schedule", "expect_wait_ms"), run_schedule_unknown},
	{"loop", FIELDS("limit_mb", "initial", "measures", "schedule"), run_loop},
	{"used", FIELDS("used_bytes", "limit_mb"), run_used},
	{"limit_text", FIELDS("limit_mb"), run_limit_text},
	{"source", FIELDS("spec_mb", "ceilings_mb", "label"), run_source},
	{"breach", FIELDS("input"), run_breach},
	{"entries_bound", FIELDS("args"), run_entries_bound},
	{"quota_bound", FIELDS("args"), run_quota_bound},
	{"unknown_streak", FIELDS("limit_mb", "samples"), run_unknown_streak},
	{"credit", FIELDS("end"), run_credit},
	{"kill", FIELDS("kill_rc", "inspect"), run_kill},
	{"mountpoints", FIELDS("mountinfo", "root"), run_mountpoints},
	{"unescape", FIELDS("text"), run_unescape},
	{"floor", FIELDS("floor_mb", "free_mb"), run_floor},
	{"floor_key", FIELDS("value"), run_floor_key},
	{.kind = NULL},
};
