/* Binding a project to an executor (config.md §4, sandbox-spec.md §13). */
#pragma once

#include "base/error.h"

struct store;

struct binding {
	const char *project;  /* resolved path */
	const char *executor; /* NULL = none: placement chooses again */
	const char *actor;    /* who asks for it */
};
/*
 * The binding, a row of the project's journal and one of the audit trail (executor.bind), together
 * or not at all; without rows where nothing changes. *ret_previous: the executor so far, or NULL;
 * the caller's. Whether the executor can do what the project wants is not looked at.
 */
must_check int binding_set(
	struct store *s, const struct binding *b, char **ret_previous, struct error *err);
/* The same within a transaction of the caller's. */
must_check int binding_set_within(
	struct store *s, const struct binding *b, char **ret_previous, struct error *err);
