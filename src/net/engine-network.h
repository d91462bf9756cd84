/* What an engine says of a network (network.md §9.2 step 3). Pure. */
#pragma once

#include <jansson.h>

#include "base/error.h"

enum engine_network_kind { ENGINE_NETWORK_PODMAN, ENGINE_NETWORK_DOCKER };

struct engine_network {
	char *bridge;
	char *gateway; /* the first IPv4 one, or NULL */
	bool internal;
};
void engine_network_done(struct engine_network *n);

/* Reads the document of one network. -1: engine_network_inspect, *ret is not written. */
must_check int engine_network_read(enum engine_network_kind kind, const json_t *document,
	struct engine_network *ret, struct error *err);
