/* Which network a run gets (network.md §9): decided before anything exists, made by its supervisor.
 */
#pragma once

#include "executor/container/plan-network.h"
#include "executor/container/request.h"

struct container_driver;

struct run_network {
	struct plan_network plan;
	char addresses[EGRESS_FILTER_RESOLVERS_MAX][INET6_ADDRSTRLEN];
	struct text dns[EGRESS_FILTER_RESOLVERS_MAX]; /* point into addresses */
	size_t n_dns;
};
#define RUN_NETWORK_INIT ((struct run_network){.plan = PLAN_NETWORK_INIT})
void run_network_done(struct run_network *n);

/*
 * Asks nft whether it is usable where that counts. *ret must stay where it is (dns points into it).
 * -1: what network_plan_make() refuses.
 */
must_check int run_network_decide(const struct container_driver *d,
	const struct container_request *r, struct run_network *ret, struct error *err);
/* Names it for this run, and puts what the engine line needs of it into the request. */
void run_network_fill(struct run_network *n, const char *executor_id, const char *handle,
	struct container_request *request);
