#include "limits/walk-links.h"

#include "base/mem.h"

enum { FIRST_SIZE = 1 << 8 };

void walk_links_done(struct walk_links *l)
{
	free(l->places);
	*l = (struct walk_links){0};
}

/* Where it is, or belongs. */
static struct walk_link *place_of(const struct walk_links *l, uint64_t device, uint64_t inode)
{
	/* Fibonacci hashing; neighbours by number end far from each other. */
	uint64_t h = (inode ^ device << 40) * UINT64_C(0x9E3779B97F4A7C15);
	size_t i = (size_t)(h >> 32) & (l->size - 1);

	while (l->places[i].inode && (l->places[i].inode != inode || l->places[i].device != device))
		i = (i + 1) & (l->size - 1);
	return &l->places[i];
}

static void grow(struct walk_links *l)
{
	struct walk_links larger = {.n = l->n, .size = l->size ? 2 * l->size : FIRST_SIZE};

	larger.places = mem_alloc(larger.size * sizeof(*larger.places));
	for (size_t i = 0; i < l->size; i++)
		if (l->places[i].inode)
			*place_of(&larger, l->places[i].device, l->places[i].inode) = l->places[i];
	free(l->places);
	*l = larger;
}

int walk_links_add(struct walk_links *l, uint64_t device, uint64_t inode)
{
	/* No filesystem of ours numbers a file 0; if one did, it would count each time. */
	if (inode == 0)
		return 1;
	if (4 * (l->n + 1) > 3 * l->size && l->n < WALK_LINKS_MAX)
		grow(l);
	struct walk_link *p = place_of(l, device, inode);
	if (p->inode)
		return 0;
	if (l->n >= WALK_LINKS_MAX)
		return -1;
	*p = (struct walk_link){device, inode};
	l->n++;
	return 1;
}
