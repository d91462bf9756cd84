/*
 * What one grant brings of its payload into a run's material (disk-and-secrets.md §16). Looks at
 * the host where a kind delivers something of it: device nodes, repositories.
 */
#pragma once

#include "spec/spec.h"
#include "store/secret.h"
#include "vault/material.h"
#include "vault/offer.h"

struct delivery {
	struct material *material;
	const struct sandbox_spec *spec; /* the project's file; NULL: there is none */
	const struct offer_grant *grant;
	const struct store_secret *secret;
	struct text payload;
};

/* The positive outcome: the file, or a newer grant, leaves nothing of it; nothing was added. */
enum { DELIVER_FILTERED = 1 };

/*
 * 0, DELIVER_FILTERED, or -1 and nothing was added: secret_payload_invalid, those of the kind's
 * select function, device_*, secret_duplicate (a file of that name is there already), out_of_range
 * (the material is full).
 */
must_check int deliver_grant(const struct delivery *d, struct error *err);

/*
 * The variables that tell of all of it (`CLOOP_LEASE_…`, `CLOOP_HOST_…`, `CLOOP_LOCAL_REPO…`), once
 * the lease's id and times are known.
 */
must_check int deliver_notes(struct material *m, struct error *err);
