/* What an engine says of a network (network.md §9.2 step 3). Pure. */
#pragma once

#include <jansson.h>

#include "base/error.h"
#include "base/text.h"

enum { ENGINE_NETWORK_PRINTED_MAX = 1 << 20 };

enum engine_network_kind { ENGINE_NETWORK_PODMAN, ENGINE_NETWORK_DOCKER };

struct engine_network {
	char *bridge;
	char *gateway; /* the first IPv4 one, or NULL */
	unsigned bits; /* of the subnet that has it; 0: the engine does not say */
	bool internal;
};
void engine_network_done(struct engine_network *n);

/*
 * The document of one network in what `network inspect --format={{json .}}` printed (podman: a list
 * of one; null where that is empty). The caller's; NULL: engine_network_inspect.
 */
must_check json_t *engine_network_parse(struct text printed, struct error *err);
/* Reads the document of one network. -1: engine_network_inspect, *ret is not written. */
must_check int engine_network_read(enum engine_network_kind kind, const json_t *document,
	struct engine_network *ret, struct error *err);

/* A label of the same document, and when the engine made it; borrowed, p = NULL: absent. */
struct text engine_network_label(
	enum engine_network_kind kind, const json_t *document, const char *key);
struct text engine_network_created(enum engine_network_kind kind, const json_t *document);

struct engine_network_owner {
	const char *home, *executor;
	const char *handle; /* NULL: of a shared one */
	bool internal;
};
/*
 * Of a network that is there already (§9.2 step 4): its labels and whether it is internal are what
 * we would have made. -1: egress_network_conflict.
 */
must_check int engine_network_check_owner(enum engine_network_kind kind, const json_t *document,
	const struct engine_network_owner *ours, struct error *err);
