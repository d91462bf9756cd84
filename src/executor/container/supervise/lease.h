/*
 * What a run holds of its lease while it is supervised (container-driver.md §15): contents of files
 * from the dispatcher into the stage, their masks, and the end of the stage.
 */
#pragma once

#include "base/strv.h"
#include "executor/container/supervise/stage.h"

struct supervisor;

struct lease {
	struct stage stage;
	/* Contents as the dispatcher handed them over, until they are staged; NULL = none. */
	char *contents;
	size_t contents_size;
	bool gone; /* files that a new supervisor has to mask are not there */
};
#define LEASE_INIT ((struct lease){.stage = STAGE_INIT})
void lease_done(struct lease *l);

/* The dispatcher's memfd (-1: it sent none), and masks for what is in it. */
must_check int lease_receive(struct supervisor *s, int fd, struct error *err);
/* Step 7: the files are there; the values leave this process' memory, whatever comes of it. */
must_check int lease_stage(struct supervisor *s, struct error *err);
/*
 * Adoption: the stage is opened again, and what is in it is masked before anything is read. 1: some
 * of it is not there; the rest is masked, and who asks again looks again.
 */
must_check int lease_restore(struct supervisor *s, struct error *err);
/*
 * Nothing will be read any more: whoever takes over from here needs no masks, which soon cannot be
 * had. On record before the record becomes final.
 */
void lease_drained(struct supervisor *s);
/*
 * Wipes these files while the workload runs on. That they are wiped is on record first: who adopts
 * the run does not wait for masks that cannot be had. -1: the first failure; the others are tried.
 */
must_check int lease_scrub(struct supervisor *s, const struct strv *names, struct error *err);
/* The file was delivered, and is not wiped. */
bool lease_has_file(struct supervisor *s, const char *name);
/* At every end: nothing of the stage is left, or a warning says so and the sweep tries again. */
void lease_wipe(struct supervisor *s);
