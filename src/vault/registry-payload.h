/* Payloads of kind registry: logins for image registries (disk-and-secrets.md §16.6). Pure. */
#pragma once

#include "base/error.h"
#include "base/secret.h"
#include "base/strv.h"
#include "base/text.h"

#define REGISTRY_PAYLOAD_FILE "config.json" /* in the lease directory; DOCKER_CONFIG names that */

/* Is it a login file or USER:PASSWORD at all? -1: secret_payload_invalid. */
must_check int registry_payload_check(struct text payload, struct error *err);
/*
 * The config.json with what the grant's `registries` (not empty) allow. -1: secret_payload_invalid,
 * registry_none; *ret is not written.
 */
must_check int registry_payload_config(
	struct text payload, const struct strv *registries, struct secret *ret, struct error *err);
