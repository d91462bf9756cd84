/*
 * The keys of `.cloop/sandbox.yaml` (sandbox-spec.md §7): one table for reading, for the JSON
 * Schema and for the reference. Binds struct sandbox_spec; schema_bind.data is a struct
 * spec_checks.
 */
#pragma once

#include "schema/schema.h"

const struct schema *spec_keys_schema(void);
