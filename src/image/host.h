/* Registry hosts and ports (image-trust.md §2.1). Text of any length and bytes, nothing trimmed. */
#pragma once

#include <stdbool.h>

#include "base/text.h"

/*
 * A DNS name, a dotted quad, or an IPv6 address in brackets, each in the one spelling that no
 * resolver takes for something else. Upper case is accepted (the caller folds it); a single label
 * is accepted (whether one may stand without a port is the reference's rule).
 */
bool registry_host_valid(struct text host);
/* 1 to 65535 without a leading zero. */
bool registry_port_valid(struct text port);
