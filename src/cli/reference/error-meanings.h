/* What each error code means, for the reference: when it is met, in one phrase. */
#pragma once

#include "base/error.h"

/* NULL: none was written for it. */
const char *error_meanings_of(enum error_code code);
