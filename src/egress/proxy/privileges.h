/* What the proxy gives up before it hears of anything (network.md §12.2). */
#pragma once

#include "base/error.h"

/* Root becomes nobody; no capabilities, no new privileges, not traceable. */
must_check int privileges_drop(struct error *err);
