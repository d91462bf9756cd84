/* Builds of agents: vMAJOR.MINOR.PATCH, decimal without leading zeros, of any length. */
#pragma once

#include <stdbool.h>

#include "base/text.h"

bool build_valid(struct text t);
/* Numeric order; what is not valid is older than everything valid. <0, 0, >0. */
int build_compare(struct text a, struct text b);
