/*
 * Strict YAML (sandbox-spec.md §3): bytes, then libyaml's events one at a time, into a tree of
 * nodes. Bounded: depth and number of events are decided while reading, so that 64 KiB of `[` cost
 * milliseconds. Anchors, aliases, tags, merge keys, null and complex keys, duplicate keys are
 * problems; all of them are collected. Pure.
 */
#pragma once

#include "base/text.h"
#include "yaml/node.h"
#include "yaml/problem.h"

enum {
	READER_MAX_DEPTH = 8, /* of open collections, the top-level mapping included */
	READER_DEEPEST = 16,  /* that a reader can be told to take */
	READER_SANDBOX_EVENTS = 4096,
	READER_CONFIG_EVENTS = 20000, /* config.md §1 */
};

struct reader_rules {
	unsigned max_events; /* from stream start to stream end, both counted */
	/*
	 * Below this top-level key nothing right of the first `=` of a key is shown in a path: it
	 * may be a secret (§4). NULL = none.
	 */
	const char *private_key;
	unsigned max_depth; /* at most READER_DEEPEST; 0 = READER_MAX_DEPTH */
	bool secret;        /* what is read is wiped when it is freed */
};

/*
 * Reads a whole text. 0: the tree is there (ret->root NULL or a null scalar: the text says
 * nothing), problems of its structure were added to errors. 1: it stopped; errors then holds one
 * problem and nothing else, and there is no tree. The tree is the caller's (tree_done) either way.
 */
must_check int reader_read(struct text bytes, const struct reader_rules *rules,
	struct problems *errors, struct tree *ret);
