/* Payloads of kind host_interface (disk-and-secrets.md §16.2). Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strv.h"
#include "base/text.h"

struct interface_entry {
	char *name, *source, *target; /* target = source when not given */
	char *address, *gateway;      /* as written; NULL = none */
	int64_t mtu;                  /* 0 = as it is */
};
struct interface_payload {
	struct interface_entry *v;
	size_t n;
};
void interface_payload_done(struct interface_payload *p);
/* -1: secret_payload_invalid (payload.h); *ret is not written. */
must_check int interface_payload_read(
	struct text payload, struct interface_payload *ret, struct error *err);
/*
 * Keeps the entries that the grant's constraint names, in their order. -1:
 * grant_constraint_invalid, key `interfaces`: it names none of them.
 */
must_check int interface_payload_select(
	struct interface_payload *p, const struct strv *names, struct error *err);
/* The value of CLOOP_HOST_INTERFACES; caller frees. */
must_check char *interface_payload_names(const struct interface_payload *p);

/* A name that the kernel takes and that is one word everywhere (1-15 bytes). */
bool interface_payload_ifname(struct text t);
/* An interface of the host that is never given; as a target only `lo` is refused. */
bool interface_payload_forbidden(struct text source);
/* ADDRESS/BITS of one host in its network; gateway (p = NULL: none) another host of the same. */
bool interface_payload_address(struct text cidr);
bool interface_payload_gateway(struct text cidr, struct text gateway);
