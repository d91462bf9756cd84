/*
 * case-runner AREA FILE…: runs public case files (JSON lines; formats: the head of each reference
 * page) through the real code and prints TAP, a line per case with what was got. A suite file
 * exports one table of kinds; main.c lists the tables per area.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "base/json.h"

struct case_result {
	bool ok;
	json_t *got;      /* what the code answered; owned, shown in the TAP line */
	const char *skip; /* why it cannot run here; NULL = it ran */
};

struct case_kind {
	const char *kind;
	/* Input fields a case of this kind may have besides kind, name, expect; NULL-terminated. */
	const char *const *fields;
	void (*run)(json_t *c, struct case_result *r);
};

/* Sets r->got (taken) and r->ok = got equals c.expect, exactly. */
void case_exact(struct case_result *r, json_t *c, json_t *got);
/*
 * ok when every member that c.expect gives is in got: objects by key (recursively), lists and
 * scalars exact.
 */
void case_subset(struct case_result *r, json_t *c, json_t *got);
/* The recursive comparison itself. */
bool case_has_subset(json_t *expected, json_t *got);
/* Base64 text -> bytes (aborts the case on malformed input); caller frees p. */
struct text case_base64(struct text encoded);
/* Bytes -> base64 JSON string. */
json_t *case_to_base64(struct text bytes);

/* The tables, each ended by an entry without kind. One file each. */
extern const struct case_kind
	case_spec_kinds[]; /* sandbox: parse load size hash apply env status */
extern const struct case_kind
	case_placement_kinds[]; /* sandbox: limits render limits_config runtime place gate */
extern const struct case_kind case_image_kinds[];        /* image: parse pin */
extern const struct case_kind case_image_policy_kinds[]; /* image: policy check */
extern const struct case_kind
	case_image_trust_kinds[]; /* image: pin_outcome challenge auth cosign fingerprint … */
extern const struct case_kind
	case_image_setup_kinds[]; /* image: dockerfile setup_key build_network build_argv */
extern const struct case_kind
	case_validate_kinds[];                   /* container: validate, those of names, options */
extern const struct case_kind case_argv_kinds[]; /* container: detect env argv mounts failures … */
extern const struct case_kind
	case_run_kinds[]; /* container: log redact classify reap lifecycle attach … */
extern const struct case_kind case_guest_kinds[]; /* container: guest_* */
extern const struct case_kind
	case_secrets_kinds[]; /* secrets: subject ttl constraints lease revoke … */
extern const struct case_kind case_seal_kinds[];            /* secrets: seal kdf key_state */
extern const struct case_kind case_secrets_payload_kinds[]; /* secrets: what kinds deliver */
extern const struct case_kind case_net_kinds[]; /* net: cidr endpoint metadata names scope … */
extern const struct case_kind case_net_policy_kinds[]; /* net: compile evaluate nft … */
extern const struct case_kind case_disk_kinds[];   /* disk: schedule loop used source breach … */
extern const struct case_kind case_walk_kinds[];   /* disk: walk */
extern const struct case_kind case_egress_kinds[]; /* net: grant authority decide … */
