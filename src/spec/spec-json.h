/* JSON of a spec and of the answer of `cloop sandbox check --json` (cli.md). Pure. */
#pragma once

#include <jansson.h>

#include "spec/spec.h"

/* The normal form with all its fields (§8.1). */
must_check json_t *spec_json(const struct sandbox_spec *s);
/* null for NULL and "". */
must_check json_t *spec_json_text(const char *s);
/* [{"source","target","read_only"}] */
must_check json_t *spec_json_mounts(const struct spec_mount *mounts, size_t n);
/*
 * {"ok","present","path","spec" (only if ok),"sha256","setup_sha256","errors","warnings",
 * "requirements"}. A caller may append to the two lists of problems (image denial, gate) and set
 * ok. "present" of a refused file says that it is there.
 */
must_check json_t *spec_json_check(const struct spec_result *r);
