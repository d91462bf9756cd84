/*
 * The network that is made for a run, and its table of nft (network.md §9.2-§9.7): made before the
 * engine is called, guarded while the run lives, removed when the container is gone.
 *
 * What was made is in network.json of the run directory before it is made, so that a new supervisor
 * finds it: `bridge` and `gateway` once the engine has told them, `fingerprint` and `script`
 * once the table is applied, `ifindex` once it has joined a shared one, `lost` once the sandbox was
 * cut off.
 */
#pragma once

#include "executor/container/network/host-ranges.h"
#include "net/endpoint.h"
#include "net/engine-network.h"
#include "net/nft-listing.h"
#include "net/subnet-choice.h"

struct supervisor;
typedef void network_then(struct supervisor *s);

struct network {
	struct engine_call *call; /* of the engine, under way */
	struct loop_source *again;
	network_then *then;
	struct subnet_choice choice;
	struct host_ranges taken;
	struct engine_network made; /* bridge NULL: the engine has not told yet */
	unsigned index; /* of the bridge that it joined, of a shared network; 0: not yet */
	int lock_fd;    /* of a shared network; -1 = none */
	bool tried;     /* to make it */
	bool foreign;   /* somebody else has its name */
	bool has_proxy;
	struct endpoint proxy; /* the run's own */
	bool begun;            /* network.json is there */
	bool applied;          /* the table is */
	bool lost;             /* the sandbox was cut off */
	unsigned attempts;
	char fingerprint[SHA256_HEX_SIZE]; /* of the table; "" = none */
	char script[SHA256_HEX_SIZE];      /* SHA-256 of the rules that it was made of; "" = none */
};
#define NETWORK_INIT ((struct network){.lock_fd = -1})
void network_done(struct network *n);

/*
 * Step 8: makes the network, applies the table, begins to guard it; then(s). A run without a
 * network of its own: then(s) at once. A failure ends in start_fail().
 */
void network_begin(struct supervisor *s, network_then *then);
/* The container has joined, and nothing of the workload runs yet: what only now can be done. */
must_check int network_joined(struct supervisor *s, struct error *err);
/* After the container is gone, also of a start that failed: removes what was made; then(s). */
void network_remove(struct supervisor *s, network_then *then);
/* A call that must end first is under way: it calls remove_begin() when the run is over. */
bool network_busy(const struct supervisor *s);
/* A new supervisor of a run that goes on: guards the table again, if there is one. */
void network_adopt(struct supervisor *s);

/* network-table.c */
/* Compiles with the run's proxy and applies; begins to guard. */
must_check int network_table_apply(struct supervisor *s, struct error *err);
void network_table_remove(struct supervisor *s);
/* The table of our name is another home's or another engine's, or nobody can tell. */
bool network_table_taken(struct supervisor *s);
/* Of a shared network: applied anew without this run's proxy. */
void network_table_leave(struct supervisor *s);
/* What is known of the network, into network.json. */
must_check int network_write(struct supervisor *s, struct error *err);
