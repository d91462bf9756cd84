/* firewall.metadata of `cloop doctor` (network.md §16): stored egress grants that are none any
 * more, and a configuration that is refused for a metadata service. */
#pragma once

#include "yaml/problem.h"

struct preflight_report;

/* A failure for each grant that lives and does not read; nothing where all do. */
void doctor_egress(const char *home, struct preflight_report *r);
/* A failure for each error of the file that is of that rule. */
void doctor_egress_broken(const struct problems *errors, struct preflight_report *r);
