/* A caller's spec (include/cloop/spec.h) as a request of the executor, and what its lease brings.
 */
#pragma once

#include "cloop/spec.h"
#include "executor/container/options.h"
#include "executor/container/request.h"
#include "vault/material.h"

/* Borrows from the caller's spec; what had to be made for it is owned. */
struct lib_spec {
	struct container_request request;
	struct material material; /* without devices, which the host is asked about */
	struct strv redact;       /* names of variables whose values are masked */
	const struct text *setup;
	size_t n_setup;
	/* Behind the request. */
	struct text *argv, *env, *setup_lines;
	struct secret *secrets; /* NAME=VALUE */
	size_t n_secrets;
	struct request_mount *mounts, *host_mounts;
	struct request_device *devices;
	struct request_interface *interfaces;
	struct request_label *labels;
};
#define LIB_SPEC_INIT ((struct lib_spec){.material = MATERIAL_INIT})
/* Wipes what it holds of secrets. */
void lib_spec_done(struct lib_spec *s);

/*
 * Limits that are not given become the options' own; where none is given and `bounded` is false
 * (the host holds none), there are none. Handle, image identity and everything that only the host
 * knows stays empty. Errors: lease_missing (secrets without a lease, or one whose id is none),
 * usage (no work_dir, a grant that is none), secret_dir_invalid, secrets_too_large, env_too_many.
 * *ret is LIB_SPEC_INIT before, and the caller's in any case.
 */
must_check int lib_spec_read(const struct cloop_spec *in, const struct container_options *options,
	bool bounded, struct lib_spec *ret, struct error *err);
