/* A JSON value as the tree that the reader would make of it, without limits of its own. */
#pragma once

#include <jansson.h>

#include "yaml/node.h"

/* *tree is a fresh one; its lines count the values in file order. */
void tree_of_json(json_t *value, struct tree *tree);
