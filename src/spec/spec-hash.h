/* The canonical texts of a spec and their hashes (sandbox-spec.md §8.2). Pure. */
#pragma once

#include <stdbool.h>

#include "base/hash.h"
#include "base/str.h"
#include "spec/spec.h"

/* Line `cloop-sandbox-1`, then one line for each value that is set. True: there is such a line. */
bool spec_hash_text(const struct sandbox_spec *s, struct str *out);
/* Line `cloop-setup-1`, image, commands. False (and nothing): there are no commands. */
bool spec_hash_setup_text(const struct sandbox_spec *s, struct str *out);

/* Both hashes, "" where §8.2 says null. True: the spec is present. */
bool spec_hash(const struct sandbox_spec *s, char sha256[SHA256_HEX_SIZE],
	char setup_sha256[SHA256_HEX_SIZE]);
