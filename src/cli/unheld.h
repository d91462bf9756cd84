/* Ceilings that an executor cannot hold: whoever sets one is told at once (sandbox-spec.md §10.3).
 */
#pragma once

#include <jansson.h>

struct candidate;
struct executor;
struct limits;

/*
 * Appends {code, message} for each resource of the ceiling that it cannot hold. Of an executor that
 * is not available nothing is known.
 */
void unheld_add(const struct executor *e, const struct limits *ceiling, json_t *warnings);
/* The same by what it advertises. */
void unheld_add_able(const char *id, const struct candidate *able, const struct limits *ceiling,
	json_t *warnings);
/* On stderr, for people. */
void unheld_print(const json_t *warnings);
