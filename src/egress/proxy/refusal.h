/*
 * Answers of the proxy's own (network.md §13.5): what was refused, by which rule, and how to ask
 * for it, so that a person or a model can act on it. Pure.
 */
#pragma once

#include "egress/decide.h"

enum { REFUSAL_BODY_MAX = 4096, REFUSAL_MAX = REFUSAL_BODY_MAX + 1024 };

struct refusal {
	enum egress_verdict verdict;
	/* NULL: nothing was authenticated, and the body tells nothing. */
	const struct egress_grant *grant;
	const struct authority *to; /* with `grant` */
	const char *method;         /* with `grant` */
	bool to_head;               /* no body, but its length */
};
/* Head and body. Neither the address of a name nor the project's path is in it. */
void refusal_write(const struct refusal *r, struct str *out);
