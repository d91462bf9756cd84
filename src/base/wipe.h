/* Memory that held a secret, given back without it. Functions of the kind that allocators take. */
#pragma once

#include <stddef.h>

/* free(), after the whole block was overwritten; NULL is fine. */
void wipe_free(void *p);
/* realloc() that leaves nothing where the block was; NULL when out of memory. */
void *wipe_realloc(void *p, size_t size);
