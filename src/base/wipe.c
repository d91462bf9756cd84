#include "base/wipe.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

void wipe_free(void *p)
{
	if (p)
		explicit_bzero(p, malloc_usable_size(p));
	free(p);
}

void *wipe_realloc(void *p, size_t size)
{
	size_t old = p ? malloc_usable_size(p) : 0;

	if (p && size <= old)
		return p;
	void *bigger = malloc(size);
	if (bigger && p) {
		memcpy(bigger, p, old);
		wipe_free(p);
	}
	return bigger;
}
