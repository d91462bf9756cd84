/*
 * A YAML text as a tree of nodes that know where they stand. What the reader (reader.h) refuses is
 * marked and not to be judged further. Everything belongs to the tree.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "base/text.h"
#include "yaml/problem.h"

enum node_kind { NODE_SCALAR, NODE_SEQUENCE, NODE_MAPPING, NODE_ALIAS };

struct node {
	enum node_kind kind;
	bool plain;       /* a scalar without quotes */
	bool refused;     /* alias or tag here: the value is not judged (the problem is reported) */
	bool key_refused; /* a key at fault: what it holds is not judged */
	struct position at; /* of its anchor or tag if it has one */
	struct text text;   /* of a scalar, decoded; may hold NUL */
	size_t n;           /* items, or pairs */
	struct node *first; /* first item, or first key */
	struct node *last;
	struct node *next;   /* next item, or next key of the mapping */
	struct node *value;  /* of a key */
	struct node *parent; /* the collection that holds it; NULL = root */
	struct node *key;    /* the key it is the value of; NULL = an item, a key or the root */
	size_t index;        /* of an item */
};

struct tree_chunk;
struct tree {
	struct node *root;       /* NULL = nothing is there */
	const char *private_key; /* see struct reader_rules */
	bool secret;             /* the same */
	struct tree_chunk *chunks;
	size_t left; /* free bytes of the newest chunk */
};
#define TREE_INIT ((struct tree){0})
void tree_done(struct tree *t);
/* Memory that lives as long as the tree, zeroed. */
must_check void *tree_alloc(struct tree *t, size_t size);

/* A plain scalar that is empty, ~, null, Null or NULL (§5), or no node at all. */
bool node_is_null(const struct node *n);
/* A plain scalar that is true, false or a number as JSON writes them. */
bool node_is_typed(const struct node *n);
/* The key (its node) whose text is `name`, refused or not; the first if there are several. */
const struct node *node_key(const struct node *mapping, const char *name);
/* Value at "a.b.c" through mappings, or NULL; null values and refused ones count as there. */
const struct node *node_find(const struct node *root, const char *path);
/* "list", "mapping", "text", … with its article, for messages. */
const char *node_kind_text(const struct node *n);

enum { NODE_PATH_MAX = 2048, NODE_PATH_KEY_MAX = 64 };
/*
 * Keys joined with `.`, items as [i] (§4): every byte of a key outside 0x21-0x7E and each of
 * . [ ] " \ becomes ?, an empty key is ?, more than 64 bytes become 61 and "...". "" = the root.
 * A value has the path of its key. Faults of a key itself (§4) have that of key->parent.
 */
void node_path(const struct tree *t, const struct node *n, struct str *out);

/*
 * JSON of what is judged: plain null, true, false and decimal integers of at most 18 digits have
 * their type, everything else is a string; refused values are null. Duplicate keys: the first.
 */
must_check json_t *node_to_json(const struct node *n);
