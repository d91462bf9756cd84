/* Revocations that were stored, carried out and shown, for every command that revokes. */
#pragma once

#include <jansson.h>

#include "cli/cli.h"
#include "executor/rundir/home.h"

struct store;

/*
 * Carries each out; *ret is the list of their answers (run/revoke.h). A configuration that cannot
 * be read is told on stderr and does not keep runs from being told.
 */
must_check int take_back(struct cli *c, const struct home *home, struct store *s,
	const json_t *numbers, json_t **ret, struct error *err);
/* For people: the state, the outcome per run, and what no revocation can reach. */
void take_back_print(const json_t *answer);
/* Exit status: refused unless everything is taken back (state `revoked`). */
int take_back_status(const json_t *answers);
