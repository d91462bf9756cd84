/*
 * What a secret is (disk-and-secrets.md §12): its kind says what a grant of it delivers (§16) and
 * which constraints a grant may have (§15).
 */
#pragma once

#include "base/error.h"
#include "base/text.h"

enum secret_kind {
	SECRET_ENV,
	SECRET_FILE,
	SECRET_HOST_DEVICE,
	SECRET_HOST_INTERFACE,
	SECRET_LOCAL_REPO,
	SECRET_REGISTRY,
	SECRET_KUBECONFIG,
	SECRET_KIND_COUNT
};
const char *secret_kind_text(enum secret_kind kind);
/* -1: no such kind. */
int secret_kind_from_text(struct text t);
/* The same, with secret_kind_unknown as the error. */
must_check int secret_kind_parse(struct text t, enum secret_kind *ret, struct error *err);
