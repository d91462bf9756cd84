/*
 * Free text that is kept (reasons, titles, words of others) without what has the shape of a
 * credential (disk-and-secrets.md §19): keys with a known prefix, JSON web tokens, private keys,
 * `user:password@` of a URL, `Authorization:` headers, values behind names like password, token or
 * api_key, and long words that mix capitals, small letters and digits. Each becomes `[redacted]`.
 *
 * It is a help against accidents: a password in plain words is not found, and an innocent word may
 * go. Where a value is known, mask it by its value (executor/runlog/redact.h).
 */
#pragma once

#include "base/text.h"

#define SCRUB_MARK "[redacted]"

/*
 * Appends t without credentials, and of that at most `max` bytes, cut at a character border with
 * "..." behind them. Takes time in proportion to t.
 */
void scrub_add(struct str *out, struct text t, size_t max);
