/*
 * The network of a run as request.json says it (network.md §9). Part of the plan (plan.h): what was
 * decided; what came of it is in NETWORK_FILE.
 */
#pragma once

#include "base/json.h"
#include "net/network-name.h"
#include "net/network-plan.h"

/* In the run directory: what came of it. */
#define NETWORK_FILE "network.json"

struct plan_network {
	enum network_plan_kind kind;
	bool filter_idle; /* of _CONFIGURED: the operator wrote a filter and did not enable it */
	/* Of _RUN and _INTERNAL, networks that are made for the run: */
	bool table;  /* nft guards it */
	bool shared; /* one for all runs of the executor */
	char name[NETWORK_NAME_SIZE];
	char table_name[NETWORK_TABLE_SIZE];
	uint32_t seed; /* where the search for a subnet begins */
	enum egress_mode mode;
	struct egress_filter filter; /* what is compiled, the run's own proxy not yet in it */
	bool extra_dns_ignored; /* the operator's extra_args set resolvers, which are left out */
};
#define PLAN_NETWORK_INIT ((struct plan_network){.kind = NETWORK_PLAN_NONE})
void plan_network_done(struct plan_network *n);

/* It is made for the run, and removed with it. */
bool plan_network_made(const struct plan_network *n);

/* What is to be said of the network in the run's record (network.md §9). */
struct plan_network_warning {
	const char *code, *message; /* static */
};
enum { PLAN_NETWORK_WARNINGS_MAX = 4 };
/* session: the run has a proxy. Returns how many there are. */
size_t plan_network_warnings(const struct plan_network *n, bool session,
	struct plan_network_warning ret[PLAN_NETWORK_WARNINGS_MAX]);

must_check json_t *plan_network_to_json(const struct plan_network *n);
/* An absent member is a run without a network. -1: not of the form. ret: PLAN_NETWORK_INIT. */
must_check int plan_network_from_json(const json_t *j, struct plan_network *ret);
