/*
 * The keys of sandbox.image_policy (image-trust.md §3.1, §3.2): the table that binds the section to
 * a struct image_policy, with every error and warning in file order. Pure: key files are not
 * opened.
 */
#pragma once

#include "schema/schema.h"

/* Bound to a struct image_policy, zeroed or with defaults; that is to be thrown away on errors. */
extern const struct schema image_policy_schema;
