/*
 * Images for `setup:` that nobody uses any more (image-trust.md §11.4): those of this home's keys,
 * and what interrupted builds left. What another home made is not judged: its locks are elsewhere.
 */
#pragma once

#include "base/strv.h"
#include "executor/container/driver/client.h"

struct derived_reap {
	const struct runtime *runtime;
	const struct strv *env; /* client_environment() */
	const char *home;
	uint64_t days;      /* since the last use; 0 = never */
	struct strv *names; /* removed: appended */
};
/* One failure does not stop the others; the first one is told. */
must_check int derived_reap_run(const struct derived_reap *r, struct error *err);
