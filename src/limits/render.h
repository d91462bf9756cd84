/* Amounts as people read them (sandbox-spec.md §10.5). All results are the caller's to free. */
#pragma once

#include "limits/effective.h"

must_check char *render_mb(uint64_t mb);      /* "unlimited", "2 GB", "1536 MB" */
must_check char *render_cpu(uint64_t millis); /* "unlimited", "1.5" */
/* "cpu X, memory Y, disk Z, pids N", unset ones left out; "unlimited". */
must_check char *render_ceiling(const struct limits *l);
/* One amount with the word of its resource: "memory 2 GB", "pids 64". */
must_check char *render_amount(enum resource r, uint64_t value);
/* "memory: 4 GB requested, the project ceiling lowers it to 1 GB". */
must_check char *render_clamp(const struct effective_clamp *c);
/* "pids: a ceiling is set, and executor host cannot hold it" (§10.3). */
must_check char *render_unenforced(enum resource r, const char *executor);
/* "disk: enforced (sampled)" or "disk: not supported" (§14). */
must_check char *render_disk_card(struct text disk_enforcement);
