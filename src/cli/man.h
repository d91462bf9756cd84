/* Man pages from the verb table; texts only. */
#pragma once

#include "base/str.h"
#include "cli/verb.h"
#include "schema/schema.h"

/* cloop(1). */
void man_overview(struct str *out);
/* cloop-run(1), cloop-sandbox-check(1) … */
void man_verb(struct str *out, const struct verb *v);

/* A page of section 5 about a file: every key of its table. */
struct man_file {
	const char *page;    /* "cloop.yaml" */
	const char *summary; /* after the name */
	const char *path;    /* where it lies */
	const char *text;    /* paragraphs, as struct verb has them */
	const struct schema *schema;
	const char *other; /* the page about the other file */
};
void man_file(struct str *out, const struct man_file *f);
