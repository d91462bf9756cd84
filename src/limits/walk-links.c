#include "limits/walk-links.h"

#include "base/mem.h"

enum { FIRST_SIZE = 1 << 8, GROUP_BITS = 6 };

void walk_links_done(struct walk_links *l)
{
	free(l->places);
	*l = (struct walk_links){0};
}

/* Where it is, or belongs. */
static struct walk_link *place_of(const struct walk_links *l, uint64_t device, uint64_t group)
{
	/* Fibonacci hashing; neighbours by number end far from each other. */
	uint64_t h = (group ^ device << 40) * UINT64_C(0x9E3779B97F4A7C15);
	size_t i = (size_t)(h >> 32) & (l->size - 1);

	while (l->places[i].seen && (l->places[i].group != group || l->places[i].device != device))
		i = (i + 1) & (l->size - 1);
	return &l->places[i];
}

static void grow(struct walk_links *l)
{
	struct walk_links larger = *l;

	larger.size = l->size ? 2 * l->size : FIRST_SIZE;
	larger.places = mem_alloc(larger.size * sizeof(*larger.places));
	for (size_t i = 0; i < l->size; i++)
		if (l->places[i].seen)
			*place_of(&larger, l->places[i].device, l->places[i].group) = l->places[i];
	free(l->places);
	*l = larger;
}

int walk_links_add(struct walk_links *l, uint64_t device, uint64_t inode)
{
	uint64_t group = inode >> GROUP_BITS;
	uint64_t bit = UINT64_C(1) << (inode & ((1 << GROUP_BITS) - 1));
	size_t max = l->max ? l->max : WALK_LINKS_MAX;

	if (4 * (l->n + 1) > 3 * l->size && l->n < max)
		grow(l);
	struct walk_link *p = place_of(l, device, group);
	if (p->seen & bit)
		return 0;
	if (p->seen) {
		p->seen |= bit;
		return 1;
	}
	if (l->n >= max)
		return -1;
	*p = (struct walk_link){device, group, bit};
	l->n++;
	return 1;
}
