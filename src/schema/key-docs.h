/* The reference of a table's keys as Markdown, for people: one table a section. */
#pragma once

#include "schema/schema.h"

/* `title` (NULL: none) heads the top level; sections follow, headed by their path. */
void key_docs_markdown(const struct schema *s, const char *title, struct str *out);
/* A key's type and bounds in words: "size, 64 MB to 1048576 MB, or 0". */
void key_docs_type(const struct schema_key *key, struct str *out);
