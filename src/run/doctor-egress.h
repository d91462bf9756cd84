/* firewall.metadata of `cloop doctor` (network.md §16): stored egress grants that are none any
 * more. */
#pragma once

struct preflight_report;

/* A failure for each grant that lives and does not read; nothing where all do. */
void doctor_egress(const char *home, struct preflight_report *r);
