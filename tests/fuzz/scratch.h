/* A directory for what a target writes. Who runs it removes it: libFuzzer ends without cleaning. */
#pragma once

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "sys/env.h"

/* Below TMPDIR; the caller's. */
static inline char *scratch_make(void)
{
	const char *parent = env_get("TMPDIR");
	char *path = mem_printf("%s/fuzz-XXXXXX", parent ? parent : "/tmp");

	assert(mkdtemp(path));
	return path;
}
