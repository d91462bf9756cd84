#include "executor/container/disk-measure.h"

#include <stdlib.h>

#include "base/mem.h"
#include "sys/clock.h"

#define STATE_DIR ".cloop"

void disk_measured_done(struct disk_measured *m)
{
	for (size_t i = 0; i < WALK_UNREADABLE_SHOWN; i++)
		free(m->unreadable[i]);
	*m = (struct disk_measured){0};
}

static void take_paths(struct disk_measured *to, const char *below, const struct walk_result *r)
{
	size_t n = 0;

	while (n < WALK_UNREADABLE_SHOWN && to->unreadable[n])
		n++;
	for (size_t i = 0;
		n < WALK_UNREADABLE_SHOWN && i < WALK_UNREADABLE_SHOWN && r->unreadable[i]; i++)
		to->unreadable[n++] = mem_printf("%s%s", below, r->unreadable[i]);
}

static void take(struct disk_measured *to, const char *below, const struct walk_result *r,
	uint64_t allowance)
{
	to->bytes += r->bytes > allowance ? r->bytes - allowance : 0;
	to->entries += r->entries;
	if (to->reason == WALK_COMPLETE)
		to->reason = r->reason;
	take_paths(to, below, r);
}

int disk_measure(const struct disk_question *q, struct disk_measured *ret, struct error *err)
{
	AUTO_PTR(walk) w = walk_new(&q->bounds);
	struct walk_root root = {.at = q->project, .path = ".", .exclude_top = STATE_DIR};
	struct walk_root state = {.at = q->project, .path = STATE_DIR, .optional = true};
	AUTO(walk_result) tree = {0};
	AUTO(walk_result) own = {0};
	struct disk_measured m = {0};
	int64_t begun_us = clock_thread_us();

	int r = walk_root(w, &root, &tree, err);
	if (r == 0 && q->has_baseline)
		r = walk_root(w, &state, &own, err);
	if (r != 0)
		return r;
	uint64_t walked = tree.bytes;
	if (q->open)
		walk_open_add(w, q->open, &tree);
	m.open_bytes = tree.bytes - walked;
	take(&m, "", &tree, 0);
	take(&m, STATE_DIR "/", &own, q->baseline);
	m.cpu_us = clock_thread_us() - begun_us + walk_helped_us(w);
	*ret = m;
	return 0;
}

int disk_measure_baseline(
	int project, const struct walk_bounds *bounds, uint64_t *ret_bytes, uint64_t *ret_entries)
{
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(walk) w = walk_new(bounds);
	struct walk_root state = {.at = project, .path = STATE_DIR, .optional = true};
	AUTO(walk_result) own = {0};

	if (walk_root(w, &state, &own, &err) != 0 || own.reason != WALK_COMPLETE)
		return 1;
	*ret_bytes = own.bytes;
	*ret_entries = own.entries;
	return 0;
}
