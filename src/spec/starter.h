/* The commented file that `cloop sandbox init` writes. Pure. */
#pragma once

#include "base/str.h"

/* image NULL: the key is commented out, and the file says nothing. Else it must be a reference. */
void starter_write(const char *image, struct str *out);
