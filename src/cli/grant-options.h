/* Options that the commands which grant have in common: who gets it, for how long, lists. */
#pragma once

#include "cli/cli.h"
#include "vault/subject.h"

struct store;

/* `a,b`, once or several times; NULL: not given. The caller's. */
must_check json_t *grant_options_list(const struct cli *c, const char *option);
/* --to or --subject, which mean the same. NULL: neither, or both (usage). */
const char *grant_options_subject(const struct cli *c, struct error *err);
/* --ttl in seconds. -1: ttl_invalid, ttl_out_of_range. */
must_check int grant_options_ttl(const struct cli *c, int64_t *ret, struct error *err);
/*
 * What a list of grants begins with: the subject that is asked for (NULL: none), due revocations,
 * and the store. 0; 1: the home has no store yet; -1.
 */
must_check int grant_options_look(struct cli *c, const char *wanted, struct subject *ret,
	struct store **ret_store, struct error *err);
/* A project that is not there is a typing error more often than not: a note on stderr. */
void grant_options_warn(const char *subject);
