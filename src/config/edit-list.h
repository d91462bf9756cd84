/*
 * A list that becomes another one, item by item: what stays keeps its bytes, its comments and its
 * place. Pure.
 */
#pragma once

#include "config/edit-splice.h"

/* old: a sequence with an item; n: at least one value. Adds the splices. */
void edit_list_plan(struct edit_splices *s, const struct span *old, char *const *values, size_t n);
