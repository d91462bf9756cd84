/*
 * An Aho-Corasick automaton over any number of patterns, made to be small: the nodes of a pattern
 * lie one behind the other, so almost no edge needs an entry of its own. Patterns may be added at
 * any time; numbers of nodes stay valid.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trie_node {
	uint32_t fail;  /* node of the longest proper suffix that begins a pattern */
	uint32_t match; /* length of the longest pattern that ends here; 0 = none */
	uint32_t depth;
	unsigned char label; /* of the edge that leads here */
	bool final : 1;      /* a pattern ends here */
	bool chained : 1;    /* the next node in memory is a child */
	bool branched : 1;   /* further children are in the table */
};

struct trie_segment;
struct trie_branch;

enum { TRIE_ROOT = 0, TRIE_WINDOW = 8 };

struct pattern_trie {
	struct trie_node *nodes; /* memory of its own: not dumped, locked if possible */
	size_t n_nodes, nodes_size;
	struct trie_segment *segments; /* runs of nodes made by one pattern */
	size_t n_segments, segments_cap;
	struct trie_branch *branches; /* hash table of the edges that lead out of a run */
	size_t n_branches, branches_cap;
	uint32_t root[256]; /* children of the root */
	int only_first;     /* the one byte that all patterns begin with; -1 = there are several */
	unsigned char *shifts; /* by two bytes of text: how far pattern_trie_skip() may go on */
	bool short_ones;       /* a pattern is shorter than TRIE_WINDOW: no shifts */
	uint32_t longest;      /* of all patterns */
	bool unlinked;         /* patterns were added since pattern_trie_link() */
};
#define PATTERN_TRIE_INIT ((struct pattern_trie){.only_first = -1})
void pattern_trie_done(struct pattern_trie *t);

/* Goes down from `node` by a byte, making the node if there is none; start at TRIE_ROOT. */
uint32_t pattern_trie_add(struct pattern_trie *t, uint32_t node, unsigned char byte);
/* A pattern ends at `node`, which is not the root. */
void pattern_trie_finish(struct pattern_trie *t, uint32_t node);
/* The child of `node`, or TRIE_ROOT = none. */
uint32_t pattern_trie_child(const struct pattern_trie *t, uint32_t node, unsigned char byte);

/* Must precede the functions below whenever `unlinked`. Linear in all patterns. */
void pattern_trie_link(struct pattern_trie *t);
/* State after one more byte of text. */
uint32_t pattern_trie_step(const struct pattern_trie *t, uint32_t state, unsigned char byte);
/* In the root state: leading bytes of the text at which no pattern begins, as far as it shows. */
size_t pattern_trie_skip(const struct pattern_trie *t, const char *p, size_t n);
/* Length of the longest end of the text that is a proper prefix of a pattern. */
uint32_t pattern_trie_open(const struct pattern_trie *t, uint32_t state);
