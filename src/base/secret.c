#include "base/secret.h"

#include <string.h>

#include "base/mem.h"
#include "base/wipe.h"

void secret_done(struct secret *s)
{
	wipe_free(s->p);
	*s = (struct secret){.p = NULL};
}

void secret_concat(const struct text *pieces, size_t n, struct secret *ret)
{
	struct secret whole = {.p = NULL};

	for (size_t i = 0; i < n; i++)
		whole.len += pieces[i].len;
	whole.p = mem_alloc(whole.len + 1);
	char *at = whole.p;
	for (size_t i = 0; i < n; i++) {
		if (pieces[i].len > 0)
			memcpy(at, pieces[i].p, pieces[i].len);
		at += pieces[i].len;
	}
	*ret = whole;
}
