/* Standard base64 with its padding (RFC 4648 §4), of what may be secret. */
#pragma once

#include "base/secret.h"

/* What *ret held is not looked at; the caller's (secret_done). */
void base64_encode(struct text bytes, struct secret *ret);

/*
 * False: not standard base64 with all of its padding; *ret is the caller's all the same. Bits of
 * the last digit that stand for nothing may be set, as in Go's decoder, which engines use.
 */
must_check bool base64_decode(struct text digits, struct secret *ret);
