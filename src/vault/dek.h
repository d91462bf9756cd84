/* The key of one secret, sealed by a KEK (disk-and-secrets.md §13). */
#pragma once

#include "base/error.h"
#include "base/str.h"
#include "vault/kek.h"

/* secret_store: it does not open. */
must_check int dek_open(const struct kek *k, const char *secret_id, struct text sealed,
	struct locked *ret, struct error *err);
/* Appends the sealed key to *ret. */
void dek_seal(
	const struct kek *k, const char *secret_id, const struct locked *dek, struct str *ret);
/* Fills err: something that is sealed in the secret's row does not open. Always -1. */
int dek_refuse(const char *secret_id, struct error *err);
