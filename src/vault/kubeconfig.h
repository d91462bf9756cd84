/* Payloads of kind kubeconfig (disk-and-secrets.md §16.7). Pure. */
#pragma once

#include "base/error.h"
#include "base/secret.h"
#include "base/strv.h"
#include "base/text.h"

#define KUBECONFIG_FILE "kubeconfig.json" /* in the lease directory; KUBECONFIG is its path */

/* Readable, and without what is refused anywhere in it? -1: secret_payload_invalid. */
must_check int kubeconfig_check(struct text payload, struct error *err);
/*
 * The file with the contexts that the grant allows, as JSON: `contexts` (not empty), `namespaces`
 * (empty: not given). -1: secret_payload_invalid; `no_context` when none is left. *ret is not
 * written then.
 */
must_check int kubeconfig_select(struct text payload, const struct strv *contexts,
	const struct strv *namespaces, struct secret *ret, struct error *err);
