/*
 * One build of an image for `setup:` (image-trust.md §11.4, steps 3-6): the caller holds the key's
 * lock. Whatever fails, the name of a good image of the same key is not touched, and neither a
 * process nor a container nor a temporary tag is left.
 */
#pragma once

#include "executor/container/driver/build-output.h"
#include "executor/container/driver/image-answers.h"
#include "image/derived.h"

struct derived_build {
	struct image_answers *answers; /* also: engine, environment, home, cancel_fd */
	const struct setup_facts *facts;
	const char *key;
	const char *network;         /* setup_network_of() */
	const char *oci_runtime;     /* podman's for this call; "" = its own choice */
	const struct strv *ulimits;  /* NAME=SOFT:HARD */
	int64_t deadline_ms;         /* boottime */
	struct build_output *output; /* a log is opened here */
};
/*
 * The image has its final name, ret_id (written only then) its ID. Errors: setup_onbuild,
 * setup_failed (details: output, exit_status), setup_timeout, start_cancelled, and the engine's.
 */
must_check int derived_build_run(
	const struct derived_build *b, char ret_id[IMAGE_DIGEST_MAX + 1], struct error *err);

/* The same for who waited in vain for the lock: setup_timeout. Always -1. */
int derived_build_too_late(struct error *err);
/* sha256:… of an inspect answer; false: it has none. */
bool derived_build_id_of(const json_t *inspect, char ret_id[IMAGE_DIGEST_MAX + 1]);
