/*
 * `cloop egress test` (network.md §11.4): one request under a grant, through a proxy of its own on
 * loopback, in a session as a run has one. Blocking.
 */
#pragma once

#include <jansson.h>

#include "egress/settings.h"
#include "executor/rundir/home.h"

struct store;

struct egress_test {
	struct store *store;
	const struct egress_settings *settings;
	const char *url;   /* http://… is asked for; of https://… a tunnel */
	const char *grant; /* its ID */
	int64_t timeout_ms;
};
/*
 * *ret is {"url","grant","session","verdict","status","allowed","reason"}; `reason` is what the
 * proxy said to a refused request, else null. -1: usage (no such URL), egress_grant_not_found,
 * grant_revoked, egress_proxy_failed, those of the store.
 */
must_check int egress_test_run(const struct egress_test *t, json_t **ret, struct error *err);
