/* Standard base64 with its padding (RFC 4648 §4), of what may be secret. */
#pragma once

#include "base/secret.h"

/* What *ret held is not looked at; the caller's (secret_done). */
void base64_encode(struct text bytes, struct secret *ret);
