/* Preflight's rows about the network (network.md §16). Pure. */
#pragma once

#include "executor/container/preflight.h"

void preflight_network_judge(const struct preflight_facts *f, struct preflight_report *r);
/* The filter will hold runs: it compiles, and what it needs is there. */
bool preflight_network_ready(const struct preflight_facts *f);
