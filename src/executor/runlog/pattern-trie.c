#include "executor/runlog/pattern-trie.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"

enum { PAGE = 4096, BRANCHES_LEAST = 64 };

/* Nodes first … next segment's first - 1 are a chain; the first hangs below `parent`. */
struct trie_segment {
	uint32_t first;
	uint32_t parent;
};

struct trie_branch {
	uint64_t key; /* parent << 8 | byte; 0 = free (edges of the root are not here) */
	uint32_t child;
};

/*
 * Text without secrets is what there is most of, and it is read in steps (Wu and Manber): the last
 * two bytes of a window of TRIE_WINDOW bytes tell how many of the next windows cannot be the first
 * bytes of a pattern. The table is small, so that it stays near the processor; two pairs of bytes
 * that share an entry only make a step shorter.
 */
enum { SHIFTS = 8192, SHIFT_MAX = TRIE_WINDOW - 1 };

static size_t shift_of(unsigned char first, unsigned char second)
{
	return ((size_t)first * 37 ^ (size_t)second << 5 ^ second) % SHIFTS;
}

/* A pattern has these two bytes, the second one at `depth` from 1. */
static void note_pair(
	struct pattern_trie *t, unsigned char first, unsigned char second, uint32_t depth)
{
	if (!t->shifts) {
		t->shifts = mem_alloc(SHIFTS);
		memset(t->shifts, SHIFT_MAX, SHIFTS);
	}
	unsigned char *shift = &t->shifts[shift_of(first, second)];
	if (*shift > TRIE_WINDOW - depth)
		*shift = (unsigned char)(TRIE_WINDOW - depth);
}

void pattern_trie_done(struct pattern_trie *t)
{
	if (t->shifts)
		explicit_bzero(t->shifts, SHIFTS);
	free(t->shifts);
	if (t->nodes)
		munmap(t->nodes, t->nodes_size);
	free(t->segments);
	free(t->branches);
	*t = PATTERN_TRIE_INIT;
}

/* mremap moves pages, so no copy of a secret stays behind. */
static void *grow(void *nodes, size_t size, size_t wanted)
{
	if (!nodes)
		return mmap(
			NULL, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *p = mremap(nodes, size, wanted, MREMAP_MAYMOVE);
	if (p != MAP_FAILED || errno != EAGAIN)
		return p;
	/* Locked pages do not grow past RLIMIT_MEMLOCK (8 MiB for most users): go on unlocked. */
	munlock(nodes, size);
	return mremap(nodes, size, wanted, MREMAP_MAYMOVE);
}

/* Room for one more node. */
static void reserve_node(struct pattern_trie *t)
{
	if ((t->n_nodes + 1) * sizeof(*t->nodes) <= t->nodes_size)
		return;
	size_t size = t->nodes ? t->nodes_size * 2 : PAGE;
	void *p = grow(t->nodes, t->nodes_size, size);
	if (p == MAP_FAILED) {
		fputs("cloop: out of memory\n", stderr);
		abort();
	}
	madvise(p, size, MADV_DONTDUMP);
	mlock(p, size);
	t->nodes = p;
	t->nodes_size = size;
	if (t->n_nodes == 0)
		t->nodes[t->n_nodes++] = (struct trie_node){0};
}

static size_t slot_of(const struct pattern_trie *t, uint64_t key)
{
	size_t mask = t->branches_cap - 1;
	size_t i = (size_t)(key * 0x9e3779b97f4a7c15u >> 32) & mask;

	while (t->branches[i].key != 0 && t->branches[i].key != key)
		i = (i + 1) & mask;
	return i;
}

static void grow_branches(struct pattern_trie *t)
{
	struct trie_branch *old = t->branches;
	size_t n = t->branches_cap;

	t->branches_cap = n ? n * 2 : BRANCHES_LEAST;
	t->branches = mem_alloc(t->branches_cap * sizeof(*t->branches));
	for (size_t i = 0; i < n; i++)
		if (old[i].key != 0)
			t->branches[slot_of(t, old[i].key)] = old[i];
	free(old);
}

static void add_branch(struct pattern_trie *t, uint32_t parent, unsigned char byte, uint32_t child)
{
	uint64_t key = (uint64_t)parent << 8 | byte;

	if (t->n_branches * 2 >= t->branches_cap)
		grow_branches(t);
	t->branches[slot_of(t, key)] = (struct trie_branch){key, child};
	t->n_branches++;
	t->nodes[parent].branched = true;
}

static void add_segment(struct pattern_trie *t, uint32_t first, uint32_t parent)
{
	if (t->n_segments == t->segments_cap) {
		t->segments_cap = t->segments_cap ? t->segments_cap * 2 : 8;
		t->segments = mem_grow(t->segments, t->segments_cap, sizeof(*t->segments));
	}
	t->segments[t->n_segments++] = (struct trie_segment){first, parent};
}

uint32_t pattern_trie_child(const struct pattern_trie *t, uint32_t node, unsigned char byte)
{
	if (node == TRIE_ROOT)
		return t->root[byte];
	const struct trie_node *n = &t->nodes[node];
	if (n->chained && n[1].label == byte)
		return node + 1;
	return n->branched ? t->branches[slot_of(t, (uint64_t)node << 8 | byte)].child : TRIE_ROOT;
}

static void add_first(struct pattern_trie *t, unsigned char byte, uint32_t child)
{
	t->only_first = t->n_segments == 0 ? byte : -1;
	t->root[byte] = child;
}

uint32_t pattern_trie_add(struct pattern_trie *t, uint32_t node, unsigned char byte)
{
	uint32_t child = pattern_trie_child(t, node, byte);

	if (child != TRIE_ROOT)
		return child;
	reserve_node(t);
	child = (uint32_t)t->n_nodes++;
	t->nodes[child] = (struct trie_node){.depth = t->nodes[node].depth + 1, .label = byte};
	t->unlinked = true;
	if (node != TRIE_ROOT && t->nodes[child].depth <= TRIE_WINDOW)
		note_pair(t, t->nodes[node].label, byte, t->nodes[child].depth);
	if (node != TRIE_ROOT && node + 1 == child) {
		t->nodes[node].chained = true;
		return child;
	}
	if (node == TRIE_ROOT)
		add_first(t, byte, child);
	else
		add_branch(t, node, byte, child);
	add_segment(t, child, node);
	return child;
}

void pattern_trie_finish(struct pattern_trie *t, uint32_t node)
{
	struct trie_node *n = &t->nodes[node];

	n->final = true;
	t->unlinked = true;
	t->short_ones |= n->depth < TRIE_WINDOW;
	if (n->depth > t->longest)
		t->longest = n->depth;
}

static void link_node(struct pattern_trie *t, uint32_t node, uint32_t parent)
{
	struct trie_node *n = &t->nodes[node];
	uint32_t from = t->nodes[parent].fail;

	n->fail = parent == TRIE_ROOT ? TRIE_ROOT : pattern_trie_step(t, from, n->label);
	n->match = n->final ? n->depth : t->nodes[n->fail].match;
}

static int compare_depth(const void *a, const void *b, void *data)
{
	const struct trie_node *nodes = data;
	uint32_t x = nodes[((const struct trie_segment *)a)->first].depth;
	uint32_t y = nodes[((const struct trie_segment *)b)->first].depth;

	return (x > y) - (x < y);
}

/*
 * A node is linked through shallower ones, so all segments are followed side by side, one level
 * after the other. `active` holds the last linked node of each segment that goes on.
 */
void pattern_trie_link(struct pattern_trie *t)
{
	auto_free uint32_t *active = mem_alloc(t->n_segments * sizeof(*active));
	size_t n_active = 0, next = 0;

	qsort_r(t->segments, t->n_segments, sizeof(*t->segments), compare_depth, t->nodes);
	for (uint32_t depth = 1; next < t->n_segments || n_active > 0; depth++) {
		size_t kept = 0;
		for (size_t i = 0; i < n_active; i++) {
			uint32_t node = active[i] + 1;
			link_node(t, node, active[i]);
			if (t->nodes[node].chained)
				active[kept++] = node;
		}
		for (; next < t->n_segments; next++) {
			const struct trie_segment *s = &t->segments[next];
			if (t->nodes[s->first].depth != depth)
				break;
			link_node(t, s->first, s->parent);
			if (t->nodes[s->first].chained)
				active[kept++] = s->first;
		}
		n_active = kept;
	}
	t->unlinked = false;
}

uint32_t pattern_trie_step(const struct pattern_trie *t, uint32_t state, unsigned char byte)
{
	for (;;) {
		uint32_t child = pattern_trie_child(t, state, byte);
		if (child != TRIE_ROOT || state == TRIE_ROOT)
			return child;
		state = t->nodes[state].fail;
	}
}

/* The window is the beginning of a pattern. */
static bool begins(const struct pattern_trie *t, const char *p)
{
	uint32_t node = TRIE_ROOT;

	for (size_t i = 0; i < TRIE_WINDOW; i++) {
		node = pattern_trie_child(t, node, (unsigned char)p[i]);
		if (node == TRIE_ROOT)
			return false;
	}
	return true;
}

/* The end of the text, shorter than a window, is left to go through byte by byte. */
static size_t skip_windows(const struct pattern_trie *t, const char *p, size_t n)
{
	const unsigned char *shifts = t->shifts;
	size_t i = 0;

	while (i + TRIE_WINDOW <= n) {
		unsigned char shift = shifts[shift_of((unsigned char)p[i + TRIE_WINDOW - 2],
			(unsigned char)p[i + TRIE_WINDOW - 1])];
		if (shift == 0 && begins(t, p + i))
			break;
		i += shift > 0 ? shift : 1;
	}
	return i;
}

size_t pattern_trie_skip(const struct pattern_trie *t, const char *p, size_t n)
{
	size_t i = 0;

	if (t->only_first >= 0) {
		const char *at = memchr(p, t->only_first, n);
		return at ? (size_t)(at - p) : n;
	}
	if (n >= TRIE_WINDOW && t->shifts && !t->short_ones)
		return skip_windows(t, p, n);
	while (i < n && t->root[(unsigned char)p[i]] == TRIE_ROOT)
		i++;
	return i;
}

uint32_t pattern_trie_open(const struct pattern_trie *t, uint32_t state)
{
	while (state != TRIE_ROOT && !t->nodes[state].chained && !t->nodes[state].branched)
		state = t->nodes[state].fail;
	return state == TRIE_ROOT ? 0 : t->nodes[state].depth;
}
