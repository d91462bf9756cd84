/*
 * The four bounded resources, in the order in which clamps and unenforced ceilings are listed
 * (sandbox-spec.md §10.3), and access to struct limits by resource.
 */
#pragma once

#include <stdint.h>

#include "base/text.h"
#include "limits/limits.h"

enum resource { RESOURCE_CPU, RESOURCE_MEMORY, RESOURCE_DISK, RESOURCE_PIDS, RESOURCE_COUNT };

const char *resource_text(enum resource r); /* "cpu" … */
int resource_from_text(struct text t);

/* Member of records and cases: "cpu_millis" … */
const char *resource_member(enum resource r);

uint64_t resource_get(const struct limits *l, enum resource r);
void resource_set(struct limits *l, enum resource r, uint64_t value);
