/*
 * Registries: hosts and ports (image-trust.md §2.1). Text of any length and bytes, nothing
 * trimmed.
 */
#pragma once

#include <stdbool.h>

#include "base/text.h"

/*
 * A DNS name, a dotted quad, or an IPv6 address in brackets, each in the one spelling that no
 * resolver takes for something else. Upper case is accepted (the caller folds it); a single label
 * is accepted (whether one may stand without a port is the reference's rule).
 */
bool registry_host_valid(struct text host);
/* 1 to 65535 without a leading zero. */
bool registry_port_valid(struct text port);

/* A registry as written: two views into it. */
struct registry_parts {
	struct text host;
	struct text port; /* p = NULL: none */
};
enum registry_fault { REGISTRY_OK, REGISTRY_BAD_HOST, REGISTRY_BAD_PORT };

/* The first component of a name that is a registry: it holds `.` or `:`, or is localhost. */
bool registry_named(struct text component);
/*
 * Takes HOST[:PORT] apart and judges both; a single label passes whether it has a port or not.
 * *ret is filled as far as the text was understood.
 */
enum registry_fault registry_split(struct text registry, struct registry_parts *ret);
/* The same, for one that may stand alone: it must be one that registry_named() knows. */
enum registry_fault registry_judge(struct text registry, struct registry_parts *ret);
/* An address, not a name: in brackets, or a dotted quad (of a valid host). */
bool registry_is_address(struct text host);
/* Docker Hub under any of its names. */
bool registry_is_hub(const struct registry_parts *r);
/*
 * The normal form of a valid one: lower case, the Hub's names folded to docker.io. Writes at most
 * the length of host and port, a colon and a NUL, or "docker.io".
 */
void registry_normalize(const struct registry_parts *r, char *out);
