/*
 * The grants that match a run, before anything of them is opened (disk-and-secrets.md §17): what
 * decides which executor fits, and which devices and interfaces a file may select, costs no key.
 */
#pragma once

#include <stdbool.h>

#include "base/strv.h"
#include "vault/grant-constraint.h"
#include "vault/two-clocks.h"
#include "vault/lease-judge.h"
#include "vault/material.h"
#include "vault/subject.h"

struct store;

enum {
	OFFER_GRANTS_MAX = 256, /* that match one run */
	/* Seconds after its end for which a grant is still judged, and denied. */
	OFFER_DENIED_SECONDS = 86400,
};

struct offer_grant {
	char id[GRANT_ID_SIZE];
	char secret[SECRET_ID_SIZE];
	char *name;    /* of the secret */
	char *subject; /* in its clean form */
	enum secret_kind kind;
	struct grant_constraints constraints;
	int64_t expires_at; /* by the wall clock of the question */
	bool revoked;
	enum lease_verdict verdict; /* LEASE_CONSTRAINT: the row does not read */
};

struct offer {
	struct offer_grant *v; /* newest first */
	size_t n;
};
#define OFFER_INIT ((struct offer){NULL, 0})
void offer_done(struct offer *o);

/*
 * Matching grants, judged by time and revocation. -1: of the store, or more than OFFER_GRANTS_MAX
 * (out_of_range): what cannot be counted is not left out.
 */
must_check int offer_load(struct store *s, const struct subject_who *who,
	const struct two_clocks *now, struct offer *ret, struct error *err);

/* Is there one of this kind that is not denied? */
bool offer_has(const struct offer *o, enum secret_kind kind);
bool offer_has_any(const struct offer *o);
/* Names that the constraints of its device (interface) grants allow, each once, appended. */
must_check int offer_names(const struct offer *o, enum secret_kind kind, struct strv *ret);
/* [{grant,secret,kind,subject,constraints,result}]: constraints as their line, result `ok` or why
 * not. */
must_check json_t *offer_to_json(const struct offer *o);
