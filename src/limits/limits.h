/*
 * Amounts of the four bounded resources. 0 = says nothing (request, default, ceiling); only an
 * effective limit of 0 means that nothing limits the run (sandbox-spec.md, head; §10).
 */
#pragma once

#include <stdint.h>

struct limits {
	uint64_t cpu_millis; /* thousandths of a core */
	uint64_t memory_mb;  /* 2^20 bytes */
	uint64_t pids;
	uint64_t disk_mb;
};
