#include "base/secret.h"

#include <stdalign.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* In front of the bytes. */
struct block {
	size_t size; /* of the mapping, this included */
	alignas(16) char bytes[];
};

static struct block *block_of(char *bytes)
{
	return (struct block *)(void *)(bytes - offsetof(struct block, bytes));
}

void secret_done(struct secret *s)
{
	if (s->p) {
		struct block *b = block_of(s->p);
		size_t size = b->size;
		explicit_bzero(b, size);
		munmap(b, size);
	}
	*s = (struct secret){.p = NULL};
}

void secret_make(size_t len, struct secret *ret)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t size = (sizeof(struct block) + len + page) / page * page;
	struct block *b =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (b == MAP_FAILED) {
		fputs("cloop: out of memory\n", stderr);
		abort();
	}
	madvise(b, size, MADV_DONTDUMP);
	mlock(b, size);
	b->size = size;
	*ret = (struct secret){.p = b->bytes, .len = len};
}

void secret_concat(const struct text *pieces, size_t n, struct secret *ret)
{
	struct secret whole;
	size_t len = 0;

	for (size_t i = 0; i < n; i++)
		len += pieces[i].len;
	secret_make(len, &whole);
	char *at = whole.p;
	for (size_t i = 0; i < n; i++) {
		if (pieces[i].len > 0)
			memcpy(at, pieces[i].p, pieces[i].len);
		at += pieces[i].len;
	}
	*ret = whole;
}
