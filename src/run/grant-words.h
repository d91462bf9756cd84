/* Words for a refusal that is due to a grant, not to the project's file (sandbox-spec.md §8.3). */
#pragma once

#include "base/error.h"

struct offer;
struct spec_result;

/*
 * Of a refusal by the gate: where the constraint comes from grants of `offer` and no key of the
 * file asks for it, the message names the first of them and the remedy says what to do about it.
 * Otherwise, and with offer NULL, err stays as it is. Always returns -1.
 */
int grant_words_add(const struct offer *offer, const struct spec_result *file, struct error *err);
