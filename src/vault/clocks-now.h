/* This moment on both clocks (vault/two-clocks.h). */
#pragma once

#include "vault/two-clocks.h"

struct two_clocks clocks_now(void);
