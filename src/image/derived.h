/*
 * Is an image what was built for a key (image-trust.md §11.4)? Pure: judges answers of `image
 * inspect`.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "image/setup.h"

/* Both labels are as expected, and RootFS.Layers begin with the base's. */
bool derived_matches(
	const json_t *inspect, const json_t *base, const struct setup_facts *f, const char *key);
/* docker shows the ONBUILD triggers of a base. */
bool derived_base_has_triggers(const json_t *base);
/*
 * podman does not, but lists what a build did: History is the base's and exactly one entry per
 * line of the Dockerfile behind FROM.
 */
bool derived_history_matches(
	const json_t *inspect, const json_t *base, const struct setup_facts *f);
