/* The payload of an audit row as it is kept: free text scrubbed and bounded. Pure. */
#pragma once

#include <jansson.h>

#include "base/cleanup.h"

enum { AUDIT_PAYLOAD_TEXT_MAX = 1024 }; /* bytes of a text */

/*
 * The payload's JSON, in which every text at any depth has passed scrub_add() (base/scrub.h), but
 * for `image` and `project`: what was denied is kept as it was written (image-trust.md §12), and
 * they have bounds of their own. Caller frees.
 */
must_check char *audit_payload_write(const json_t *payload);
