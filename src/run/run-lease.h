/*
 * The lease of a run on its way (disk-and-secrets.md §17; sandbox-spec.md §9.1): which grants match
 * is known before anything is decided, payloads are opened once the run is decided, and who holds
 * what is on record before anything leaves this process.
 *
 *     run_lease_find() → run_lease_promise() → … → run_lease_make() → run_lease_fill()
 *                      → (the driver, with directory and image) run_lease_hold()
 */
#pragma once

#include "executor/container/request.h"
#include "executor/executor.h"
#include "spec/run-spec.h"
#include "vault/lease.h"
#include "vault/two-clocks.h"

struct decision;
struct egress_session;
struct store;

struct run_lease {
	char *home, *project, *executor;
	struct two_clocks now; /* at which grants are judged */
	struct offer offer;
	struct material material;
	json_t *report;       /* of lease_make(); NULL: nothing matched */
	bool revocations_due; /* some are to be tried again */
	/* What a request borrows. */
	struct secret *lines; /* NAME=VALUE */
	struct request_mount repos[MATERIAL_REPOS_MAX];
	struct strv targets; /* of repos */
	struct request_device devices[MATERIAL_DEVICES_MAX];
	struct request_interface interfaces[MATERIAL_INTERFACES_MAX];
};
#define RUN_LEASE_INIT ((struct run_lease){.offer = OFFER_INIT, .material = MATERIAL_INIT})
/* Wipes what it holds of secrets. */
void run_lease_done(struct run_lease *l);

/* Of a run: project is its resolved path. */
struct run_lease_who {
	const char *home, *project, *executor;
	const struct request_label *labels;
	size_t n_labels;
};
/* As subjects of grants see it; `labels` has room for all of its labels, and is borrowed. */
void run_lease_subject(
	const struct run_lease_who *who, struct subject_label *labels, struct subject_who *ret);
/* Which grants match. `s` NULL: the home has no store, and so none. Opens no payload. */
must_check int run_lease_find(
	struct store *s, const struct run_lease_who *who, struct run_lease *ret, struct error *err);

/* What the grants would bring, as far as a placement and the file's selections ask for it. */
void run_lease_promise(const struct offer *offer, struct run_spec *run);

/*
 * Opens the payloads of what was found, if there is one. A device or interface that the file names
 * and no grant brings after all: sandbox_device_not_granted, sandbox_interface_not_granted.
 */
must_check int run_lease_make(struct run_lease *l, const struct decision *d, struct error *err);

/*
 * The run's session under an egress grant, which is borrowed: a lease holds it like what a secret
 * brings, and there is one from now on. ends_at: when the grant ends, in seconds since 1970.
 */
must_check int run_lease_add_egress(
	struct run_lease *l, struct egress_session *session, int64_t ends_at, struct error *err);

/*
 * Into the request, whose variables are `env` (room for l->material.n_variables behind n_env):
 * variables that the caller gave by himself stay his.
 */
void run_lease_fill(struct run_lease *l, const struct decision *d,
	struct container_request *request, struct text *env);

/* Is there something to hold, or a denial to put on record? */
bool run_lease_concerns(const struct run_lease *l);
/*
 * For executor_start.hold, data is the run_lease: one transaction with the lease, who holds which
 * grant, and the audit rows lease.open. grant_revoked: one was revoked, or expired, since it was
 * judged.
 */
must_check int run_lease_hold(void *data, const char *handle, struct error *err);
