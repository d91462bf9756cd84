#include "vault/locked.h"

#include <sodium.h>
#include <sys/prctl.h>

void locked_done(struct locked *m)
{
	sodium_free(m->p);
	*m = LOCKED_INIT;
}

void locked_make(struct locked *m, size_t n)
{
	locked_done(m);
	m->p = sodium_init() < 0 ? NULL : sodium_malloc(n + 1);
	if (!m->p) {
		fputs("cloop: no memory for a key or a secret\n", stderr);
		abort();
	}
	sodium_memzero(m->p, n + 1);
	m->len = n;
}

void locked_copy(struct locked *m, struct text bytes)
{
	locked_make(m, bytes.len);
	if (bytes.len > 0)
		memcpy(m->p, bytes.p, bytes.len);
}

void locked_cut(struct locked *m, size_t n)
{
	if (n >= m->len)
		return;
	sodium_memzero(m->p + n, m->len - n);
	m->len = n;
}

void locked_process(void)
{
	prctl(PR_SET_DUMPABLE, 0);
}
