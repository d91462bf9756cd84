/*
 * Decisions about a run whose shim is gone (container-driver.md §16.2) and about taking a lease
 * back (§15.4). Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/strv.h"
#include "base/text.h"

enum adopt_verdict {
	ADOPT_LEAVE,        /* nothing to do */
	ADOPT_UNKNOWN,      /* the engine does not answer: ask again */
	ADOPT_CLEANUP,      /* remove the container, the record stays */
	ADOPT_LOST,         /* record: lost */
	ADOPT_LOST_CLEANUP, /* record: lost; remove the container */
	ADOPT_ABORT,        /* start_failed, remove what is there: nothing of the workload ran */
	ADOPT_ADOPT,        /* go on with it */
	ADOPT_FINISH,       /* drain, classify, end */
	ADOPT_VERDICT_COUNT
};
const char *adopt_verdict_text(enum adopt_verdict v);
int adopt_verdict_from_text(struct text t);

enum adopt_record { ADOPT_RECORD_PENDING, ADOPT_RECORD_RUNNING, ADOPT_RECORD_TERMINAL };

struct adopt_input {
	enum adopt_record record;
	bool released;   /* the record says so */
	bool shim_alive; /* somebody else holds the lock */
	struct text boot_id, boot_id_now;
	bool engine_down;
	bool container_found;
	bool container_ours; /* label cloop.handle and id are this run's */
	struct text container_status;
};
enum adopt_verdict adopt_decide(const struct adopt_input *in);

struct revoke_binding {
	struct text lease, grant, kind;
	const struct text *files; /* names below dir */
	size_t n_files;
	struct text dir;
	size_t n_env_keys;
};

struct revoke_request {
	struct text lease;
	struct text grant; /* empty: all of the lease */
	struct text action;
};

enum revoke_effect { REVOKE_NONE, REVOKE_SCRUB, REVOKE_KILL, REVOKE_EFFECT_COUNT };
const char *revoke_effect_text(enum revoke_effect e);
int revoke_effect_from_text(struct text t);

struct revoke_plan {
	bool held; /* a binding was selected */
	enum revoke_effect effect;
	bool sessions;     /* egress sessions are to be closed */
	struct strv files; /* DIR/NAME, in order */
};
void revoke_plan_done(struct revoke_plan *p);
/* stage_known: the stage's directory is on record. Error `lease_missing`. *ret is owned. */
must_check int revoke_decide(const struct revoke_binding *bindings, size_t n,
	const struct revoke_request *request, bool stage_known, struct revoke_plan *ret,
	struct error *err);
