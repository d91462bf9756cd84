/*
 * Tables that bind a YAML text to a struct. A table names every key of a mapping once: type,
 * bounds, default, words for people, the place in the struct, and a check of its own where the
 * type does not say enough. The binder reports everything that is wrong at once, with path, line
 * and column (sandbox-spec.md §4, §5, §10.2). The same tables give the JSON Schema
 * (json-schema.h), the reference (key-docs.h) and the defaults.
 *
 * Schemas are closed: a key that is not listed is unknown_key. A key with null is absent.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strv.h"
#include "base/text.h"
#include "yaml/node.h"
#include "yaml/problem.h"

/* What is written, and what lies at `offset` of the struct (its field is untouched if absent). */
enum schema_type {
	SCHEMA_TEXT,    /* any scalar, trimmed: char *, replaced */
	SCHEMA_BOOLEAN, /* true or false, plain: bool */
	SCHEMA_CPU,     /* cores: uint64_t, thousandths */
	SCHEMA_INTEGER, /* uint64_t */
	SCHEMA_SIGNED,  /* int64_t; `min` may be negative */
	SCHEMA_SIZE,    /* uint64_t, MB */
	SCHEMA_LIST,    /* list of texts: struct schema_list */
	SCHEMA_SECTION, /* mapping: the struct itself, bound by `section` */
	SCHEMA_ENTRIES, /* list of mappings: struct schema_entries, each bound by `section` */
	SCHEMA_CUSTOM,  /* `custom` reads the node */
};

enum schema_flag {
	SCHEMA_CLAMP = 1,     /* above max: lowered, warning `clamped`; else an error */
	SCHEMA_ZERO = 2,      /* 0 passes whatever min says */
	SCHEMA_REQUIRED = 4,  /* missing_key if absent or null */
	SCHEMA_UNIQUE = 8,    /* of equal list items the first stays */
	SCHEMA_BLANK = 16,    /* a text may be empty */
	SCHEMA_NO_CASE = 32,  /* choices in any case; kept as the table spells them */
	SCHEMA_VERBATIM = 64, /* a text or item is not trimmed */
	/* A plain number, true or false, and a null item, is no text: wrong_type. */
	SCHEMA_TYPED = 128,
	SCHEMA_CHECK_EMPTY = 256, /* `check` judges an empty text too, instead of `empty` */
};

struct schema_list {
	bool given; /* the key is there: an empty list differs from no list */
	struct strv items;
};
struct schema_entries {
	void *v; /* n structs of `entry_size` bytes, zeroed before they are bound; free()d by owner
		  */
	size_t n;
};

struct schema;
struct schema_key;
struct schema_bind;

/* One mapping while it is bound: what its keys turned out to be. */
struct schema_section {
	const struct schema *schema;
	const struct node *node; /* NULL: the mapping is absent */
	uint64_t given;          /* bit i: keys[i] stands there and is not null */
	uint64_t valid;          /* bit i: and its value was taken */
};

/*
 * A check after the type's own rules, of a text or of each item of a list. True = fine; false = a
 * problem was added with schema_problem().
 */
typedef bool schema_check(struct schema_bind *b, const struct schema_key *key, const struct node *n,
	struct text value);
/* Reads the node itself into the field. The same answer. n is never null or refused. */
typedef bool schema_custom(
	struct schema_bind *b, const struct schema_key *key, const struct node *n, void *field);
/* After all keys of a mapping, for rules across them; out = its struct. */
typedef void schema_across(struct schema_bind *b, const struct schema_section *s, void *out);
/* After all entries of a list of mappings (those within the bound). */
typedef void schema_after(struct schema_bind *b, const struct schema_key *key,
	const struct node *list, struct schema_entries *entries);

struct schema_key {
	const char *name;
	enum schema_type type;
	unsigned flags;
	size_t offset;
	int64_t min;      /* numbers: least value; 0 = none (SCHEMA_SIGNED: always applies) */
	uint64_t max;     /* numbers: greatest value */
	size_t max_bytes; /* text, item: after trimming; 0 = unbounded here */
	size_t max_items; /* lists; 0 = unbounded here */
	const char *const *choices; /* text: one of these, NULL-terminated */
	schema_check *check;
	schema_custom *custom;
	schema_after *after;
	const struct schema *section;
	size_t entry_size;
	const char *fallback; /* default as it would be written in a file; NULL = absent */
	const char *const *fallback_items; /* the same of a list of texts, NULL-terminated */
	const char *range_code;            /* instead of too_large, below_minimum, negative */
	const char *negative_hint;         /* remedy of `negative` */
	const char *pattern;               /* ECMA 262, for the JSON Schema: what `check` takes */
	const char *doc;                   /* sentences for people */
};

struct schema {
	const struct schema_key *keys; /* at most 64 */
	size_t n;
	schema_across *across;
	const char *doc;
};
#define SCHEMA(table) .keys = (table), .n = ARRAY_SIZE(table)

/* One call of schema_bind_document(). */
struct schema_bind {
	struct problems *errors;
	struct problems *warnings;
	const struct tree *tree;
	const struct schema *root;
	void *data; /* for checks */
};

/*
 * Binds the tree's root to *out, which holds defaults (schema_defaults) or zeros. Errors and
 * warnings go to the lists of b; the struct is to be thrown away when b->errors is not empty.
 */
void schema_bind_document(struct schema_bind *b, const struct schema *s, void *out);
/* Fills in the fallbacks of all keys, sections included. They must be valid (asserted). */
void schema_defaults(const struct schema *s, void *out);

/* Adds an error at the node; NULL node: without position. Remedy: problems_set_remedy(b->errors).
 */
void schema_problem(struct schema_bind *b, enum problem_code code, const struct node *n,
	const char *fmt, ...) printf_like(4, 5);
void schema_warning(struct schema_bind *b, enum problem_code code, const struct node *n,
	const char *fmt, ...) printf_like(4, 5);
/* Adds what a shared check says: its code, message and remedy. */
void schema_problem_error(struct schema_bind *b, const struct node *n, const struct error *err);
/* The author's text for a message: at most 64 bytes, quoted. In a ring of 8 buffers. */
const char *schema_quoted(struct text t);

/* For rules across keys. `name` must be in the table. */
bool section_given(const struct schema_section *s, const char *name);
bool section_valid(const struct schema_section *s, const char *name);
const struct node *section_value(const struct schema_section *s, const char *name);

/* Key of a dotted path ("resources.memory"), through sections; NULL if there is none. */
const struct schema_key *schema_find(const struct schema *s, const char *path);
/*
 * What an unknown key probably meant (§4): its full path, in a list of mappings its name, appended
 * to out. `level` is the mapping's schema, `prefix` its path. False: nothing comes near.
 */
bool schema_suggest(const struct schema *root, const struct schema *level, const char *prefix,
	struct text key, struct str *out);
