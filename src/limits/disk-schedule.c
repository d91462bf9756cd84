#include "limits/disk-schedule.h"

#include "limits/disk-limit.h"

enum {
	MIN_MS = 5000,
	MAX_MS = 120000,
	FIRST_MS = 15000,
	COST_FACTOR = 10,
	DEADLINE_MS = 60000,
	US_PER_MS = 1000,
};

/* Far above any walk, and far from an overflow when multiplied. */
#define COST_MAX_MS (INT64_C(1) << 40)

static int64_t or_default(int64_t value, int64_t fallback)
{
	return value > 0 ? value : fallback;
}

struct disk_schedule disk_schedule_resolve(struct disk_schedule s)
{
	s.min_ms = or_default(s.min_ms, MIN_MS);
	s.max_ms = or_default(s.max_ms, MAX_MS);
	s.first_ms = or_default(s.first_ms, FIRST_MS);
	s.cost_factor = or_default(s.cost_factor, COST_FACTOR);
	s.deadline_ms = or_default(s.deadline_ms, DEADLINE_MS);
	if (s.max_ms < s.min_ms)
		s.max_ms = s.min_ms;
	if (s.first_ms > s.max_ms)
		s.first_ms = s.max_ms;
	return s;
}

int64_t disk_schedule_cost(int64_t took_ms, int64_t cpu_us)
{
	int64_t cpu_ms = (cpu_us + US_PER_MS - 1) / US_PER_MS;

	return took_ms > cpu_ms ? took_ms : cpu_ms;
}

static double cost_bound(const struct disk_schedule *s, int64_t cost_ms)
{
	return (double)s->cost_factor * (double)(cost_ms > COST_MAX_MS ? COST_MAX_MS : cost_ms);
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

/* Half the time in which the limit is reached if it goes on like this. */
static double half_way(
	const struct disk_sample *cur, const struct disk_sample *prev, double limit_bytes)
{
	double growth = (double)(cur->bytes - prev->bytes) / (double)(cur->at_ms - prev->at_ms);

	return (limit_bytes - (double)cur->bytes) / growth / 2;
}

int64_t disk_schedule_next(const struct disk_schedule *s, const struct disk_sample *cur,
	const struct disk_sample *prev, uint64_t limit_mb)
{
	double limit_bytes = (double)limit_mb * (double)DISK_MB, wait = (double)s->max_ms;

	if (limit_mb > 0 && disk_limit_near(cur->bytes, limit_mb)) {
		wait = (double)s->min_ms;
	} else if (!prev) {
		wait = (double)s->first_ms;
	} else if (cur->at_ms > prev->at_ms && cur->bytes > prev->bytes && limit_mb > 0) {
		double half = half_way(cur, prev, limit_bytes);
		if (half < wait)
			wait = half;
	}
	wait = larger(wait, (double)s->min_ms);
	return (int64_t)larger(wait, cost_bound(s, cur->cost_ms));
}

int64_t disk_schedule_after_unknown(const struct disk_schedule *s, int64_t cost_ms)
{
	return (int64_t)larger((double)s->max_ms, cost_bound(s, cost_ms));
}

int64_t disk_loop_begin(struct disk_loop *l, struct disk_schedule schedule, uint64_t limit_mb,
	const struct disk_sample *initial)
{
	*l = (struct disk_loop){
		.schedule = disk_schedule_resolve(schedule),
		.limit_mb = limit_mb,
		.has_prev = initial != NULL,
	};
	if (!initial)
		return l->schedule.min_ms;
	l->prev = *initial;
	return disk_schedule_next(&l->schedule, initial, NULL, limit_mb);
}

struct disk_step disk_loop_measured(struct disk_loop *l, const struct disk_measure *m)
{
	if (m->ended)
		return (struct disk_step){DISK_RETURN, 0};
	if (m->over_names || disk_limit_over(m->sample.bytes, l->limit_mb))
		return (struct disk_step){DISK_BREACH, 0};
	if (m->incomplete)
		return (struct disk_step){
			DISK_UNKNOWN, disk_schedule_after_unknown(&l->schedule, m->sample.cost_ms)};
	struct disk_step step = {DISK_WAIT, disk_schedule_next(&l->schedule, &m->sample,
						    l->has_prev ? &l->prev : NULL, l->limit_mb)};
	l->prev = m->sample;
	l->has_prev = true;
	return step;
}

struct disk_step disk_loop_stopped(const struct disk_loop *l, bool stopped)
{
	return stopped ? (struct disk_step){DISK_RETURN, 0}
		       : (struct disk_step){DISK_WAIT, l->schedule.min_ms};
}
