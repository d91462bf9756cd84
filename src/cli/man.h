/* Man pages from the verb table; texts only. */
#pragma once

#include "base/str.h"
#include "cli/verb.h"

/* cloop(1). */
void man_overview(struct str *out);
/* cloop-run(1), cloop-sandbox-check(1) … */
void man_verb(struct str *out, const struct verb *v);
