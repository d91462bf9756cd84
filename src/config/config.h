/*
 * The operator's configuration (config.md). Read anew for every dispatch; a file that is absent
 * means the defaults, one that is present and broken means that nothing runs.
 */
#pragma once

#include <stdbool.h>

#include "egress/settings.h"
#include "executor/check.h"
#include "executor/container/options.h"
#include "executor/executor-list.h"
#include "image/policy.h"
#include "image/provenance.h"
#include "limits/limits.h"
#include "net/egress-filter.h"
#include "yaml/problem.h"

struct config {
	char *default_id; /* executors.default; NULL = unset, see config_default_executor() */
	bool allow_host_process;
	char *min_agent_build;                 /* NULL = unset; may be no build at all */
	int64_t orphan_sweep_interval_minutes; /* 0 = default, negative = off */
	struct limits fleet;                   /* executors.limits, the fleet's ceiling */
	struct provenance_rules provenance;
	struct egress_settings egress;
	bool container_enabled;
	struct container_options container; /* normalized */
	struct egress_filter filter;        /* of containers; it compiles, enabled or not */
	bool disk_quota;                    /* auto; false = off */
	uint64_t derived_image_days;        /* 0 = never removed */
	uint64_t min_free_disk_mb;          /* 0 = off */
	struct image_policy image_policy;
	struct position key_at[POLICY_KEYS_MAX]; /* of its cosign_public_keys in the file */
};
void config_done(struct config *c);

/*
 * Judges a whole text (at most CONFIG_MAX_BYTES). 0: *ret is filled (also from an empty text). 1:
 * errors holds every problem, in file order, and *ret is untouched. Warnings are given either way.
 * Pure.
 */
enum { CONFIG_MAX_BYTES = 256 * 1024 };
must_check int config_parse(
	struct text bytes, struct config *ret, struct problems *errors, struct problems *warnings);

/* What a reading found, for people. */
struct config_report {
	bool present; /* false: no such file, defaults */
	struct problems errors, warnings;
};
void config_report_done(struct config_report *r);

/*
 * Opens (source.h), reads and judges the file. 0: *ret is filled. 1: the file is broken, see
 * ret_report->errors. -1: config_unsafe or io. The report is filled in every case and owned by the
 * caller.
 */
must_check int config_read(
	const char *path, struct config *ret, struct config_report *ret_report, struct error *err);
/*
 * Adds key_unreadable for every key file of the image policy that cannot be read now. Validation
 * itself opens none.
 */
void config_check_keys(const struct config *c, struct problems *warnings);
/*
 * The same as config_read() for a dispatch: a broken file is config_invalid, or
 * limits_configuration if nothing but executors.limits is wrong (sandbox-spec.md §10.4),
 * sandbox_image_denied if nothing but sandbox.image_policy is (image-trust.md §3.2); the message
 * names the first problem, details hold `errors` and `path`.
 */
must_check int config_load(const char *path, struct config *ret, struct error *err);
/* Fills err as config_load() does. Always -1; the list must not be empty. */
int config_refuse(const struct problems *errors, const char *path, struct error *err);

/*
 * Id that is meant where none is given: executors.default, else the container executor's, else
 * that of the only enabled executor. Which one a run gets: run/choice.h.
 */
const char *config_default_executor(const struct config *c);
/* Views that borrow from c. */
struct check_policy config_policy(const struct config *c);
struct executor_settings config_executor_settings(const struct config *c, const char *home);
