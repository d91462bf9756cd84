/*
 * placement-bench: what choosing among 1,000 executors costs (sandbox-spec.md §12): where all of
 * them could, where the last check rejects each, and where nobody does and the refusal is written.
 * Prints; asserts nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "executor/placement.h"

enum { FLEET = 1000, ROUNDS = 50 };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static char ids[FLEET][16];

/* Each has something to tell apart; `free_slots` 0: all are full. */
static void fill(struct candidate *fleet, int64_t free_slots)
{
	static const struct candidate_label labels[] = {
		{TEXT("region"), TEXT("eu")}, {TEXT("disk"), TEXT("ssd")}};
	static const struct text programs[] = {TEXT("claude"), TEXT("copilot"), TEXT("git")};

	for (int i = 0; i < FLEET; i++) {
		snprintf(ids[i], sizeof(ids[i]), "node-%04d", (i * 7919) % FLEET);
		fleet[i] = (struct candidate){
			.id = text_of(ids[i]),
			.health = i % 3 ? TEXT("ready") : TEXT("degraded"),
			.isolation = TEXT("remote"),
			.labels = labels,
			.n_labels = ARRAY_SIZE(labels),
			.platform = TEXT("linux"),
			.arch = TEXT("amd64"),
			.harnesses = programs,
			.n_harnesses = ARRAY_SIZE(programs),
			.network_off = TEXT("enforced"),
			.disk_enforcement = TEXT("sampled"),
			.resource_limits = true,
			.pids_limit = true,
			.image_override = true,
			.sandbox_build = true,
			.sandbox_mounts = true,
			.max_concurrent = 8,
			.load_known = true,
			.in_flight = free_slots ? 8 - (i % free_slots + 1) : 8,
			.agent = true,
			.build = i % 2 ? TEXT("v1.10.3") : TEXT("v1.9.12"),
		};
	}
}

static void measure(const char *what, const struct candidate *fleet, const struct requirement *need)
{
	const struct check_policy policy = {.min_agent_build = TEXT("v1.2.0")};
	double best = 0;

	for (int i = 0; i < ROUNDS; i++) {
		auto_error struct error err = ERROR_INIT;
		const struct candidate *chosen;
		double begin = now();
		(void)!placement_choose(&policy, fleet, FLEET, need, &chosen, &err);
		double took = now() - begin;
		best = i == 0 || took < best ? took : best;
	}
	printf("%-24s %8.3f ms\n", what, best);
}

int main(void)
{
	auto_free struct candidate *fleet = mem_alloc(FLEET * sizeof(*fleet));
	struct requirement need = {
		.network_off = REQUIREMENT_NETWORK_OFF_ANY,
		.resource_limits = true,
		.pids_limit = true,
		.disk_limit = true,
		.image_override = true,
		.sandbox_build = true,
		.sandbox_mounts = true,
		.harnesses = STRV_INIT(REQUIREMENT_HARNESSES_MAX),
	};

	requirement_add_harness(&need, "git");
	requirement_add_label(&need, "region", "eu");
	requirement_add_label(&need, "disk", "ssd");
	fill(fleet, 4);
	measure("all of them could", fleet, &need);
	fill(fleet, 0);
	measure("nobody, refusal written", fleet, &need);
	requirement_done(&need);
	return 0;
}
