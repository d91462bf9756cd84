/* The JSON Schema (draft 7) of a table, for editors. */
#pragma once

#include <jansson.h>

#include "schema/schema.h"

must_check json_t *json_schema_of(const struct schema *s, const char *id, const char *title);
