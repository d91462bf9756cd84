/* CLOOP_SECRET_KEY (disk-and-secrets.md §13). */
#pragma once

#include "base/text.h"

/*
 * Moves the variable into locked memory: it is gone from our environment, from what /proc shows of
 * it, and from that of every child. For the very beginning of a program. What was taken before is
 * forgotten.
 */
void passphrase_take(void);
/* What was taken; empty: none is set. Lives as long as the process. */
struct text passphrase_text(void);
