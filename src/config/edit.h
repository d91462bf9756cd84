/*
 * Changing one key in the text of a config file (config.md §3): comments, order and everything else
 * stay as they are. Pure.
 */
#pragma once

#include "base/error.h"
#include "base/str.h"
#include "schema/schema.h"

struct edit {
	const char *path;             /* "executors.limits.max_cpu" */
	const struct schema_key *key; /* of that path; no section and no list of mappings */
	char *const *values;          /* one; of a list any number */
	size_t n;                     /* 0 takes the key out of the file */
};

/*
 * The new text in *ret, which holds the answer only on success. usage: too many values, or a text
 * that cannot be written. config_invalid: the file is not YAML, or its layout is one that cannot be
 * edited (the result is read back, and must differ in this key and nowhere else).
 */
must_check int edit_text(
	struct text file, const struct edit *e, struct str *ret, struct error *err);
/* The values (NULL-terminated) as a file holds them: `text`, "quoted", [a list]. */
void edit_write_values(struct str *out, const struct schema_key *key, char *const *values);
