/*
 * The lease of one run (disk-and-secrets.md §17): matching grants are judged, payloads opened, and
 * what they bring becomes the run's material. Nothing is written.
 */
#pragma once

#include <jansson.h>

#include "spec/spec.h"
#include "vault/material.h"
#include "vault/offer.h"

struct store;

struct lease_question {
	struct store *store;
	const char *home;
	const struct offer *offer;
	const struct sandbox_spec *spec; /* the project's file; NULL: there is none */
	const struct two_clocks *now;
	/*
	 * Only to show: what the host refuses (a device node) is a denial like the others. For a
	 * run it refuses the start: who was promised a device cannot work without it.
	 */
	bool dry;
};

/*
 * Opens a key only when there is a payload to read. *ret is MATERIAL_INIT before, and stays so when
 * nothing is granted. *ret_report (the caller's) is
 * {"granted":[{grant,secret,kind,…names}],"denied":[{grant,secret,kind,reason,code?,message?}],
 * "filtered":[{grant,secret,kind}]}; no value is in it. A grant whose terms or payload fail is
 * denied and the others go on. -1: secret_key_*, secret_store, device_*, out_of_range, those of the
 * store; *ret is MATERIAL_INIT then.
 */
must_check int lease_make(const struct lease_question *q, struct material *ret, json_t **ret_report,
	struct error *err);

/* The dry run of disk-and-secrets.md §19 without lists of grants: names, never a value. */
must_check json_t *lease_names(const struct material *m);
