/* A commented config file from a list of keys, for `cloop config init` (config.md §3). */
#pragma once

#include <stddef.h>

#include "base/error.h"
#include "base/str.h"

struct template_entry {
	const char *key;     /* dotted path */
	char *const *values; /* NULL-terminated; NULL = the key is only shown, as a comment */
	const char *comment; /* any number of lines; NULL = none */
};

/*
 * `head` (NULL = none) and each comment become lines that begin with "# ". Entries of a section
 * must follow one another. The result is judged like any file: -1 with what is wrong with it, and
 * *ret is then not to be used. Pure.
 */
must_check int template_render(const char *head, const struct template_entry *entries, size_t n,
	struct str *ret, struct error *err);
