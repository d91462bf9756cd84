/*
 * Payloads of kind host_device (disk-and-secrets.md §16.1). Pure; the nodes themselves:
 * device-node.h, device-open.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/strv.h"
#include "base/text.h"

struct device_entry {
	char *name, *source, *target;
	const char *mode; /* "r", "rw", "rwm"; static */
};
struct device_payload {
	struct device_entry *v;
	size_t n;
};
void device_payload_done(struct device_payload *p);
/* -1: secret_payload_invalid (payload.h); *ret is not written. */
must_check int device_payload_read(
	struct text payload, struct device_payload *ret, struct error *err);
/* Keeps the entries that the grant's constraint names, in their order. -1: device_none. */
must_check int device_payload_select(
	struct device_payload *p, const struct strv *names, struct error *err);
/* The mode that is delivered: `r` unless the grant is writable, never more than the payload's. */
const char *device_payload_mode(const struct device_entry *d, bool writable);
/* The value of CLOOP_HOST_DEVICES; caller frees. */
must_check char *device_payload_names(const struct device_payload *p);
/* May this path below /dev/ never be given? */
bool device_payload_forbidden(struct text path);
