/*
 * One row of the table of options (container-driver.md §3), and the kinds of rows. Internal to
 * options*.c.
 */
#pragma once

#include <stddef.h>

#include "base/json.h"
#include "executor/container/options.h"

struct options_row {
	const char *key;
	/*
	 * Takes the JSON value over into raw, judging what raw cannot hold (a wrong type, a NUL, a
	 * negative size). normal holds the rows above, judged and completed.
	 */
	int (*read)(const struct options_row *row, const json_t *value,
		struct container_options *raw, const struct container_options *normal,
		struct error *err);
	/* Judges in and completes the row in out, which holds the rows above already. */
	int (*check)(const struct options_row *row, const struct container_options *in,
		struct container_options *out, struct error *err);
	size_t field;            /* offset in struct container_options */
	enum error_code invalid; /* for a value of the wrong type */

	/* text rows */
	int (*rule)(struct text t, struct error *err);
	const char *absent; /* the default */
	bool blank_is_absent;

	/* list rows */
	int (*list_rule)(const struct text *v, size_t n, const struct container_options *normal,
		struct error *err);

	/* range rows */
	int64_t least, largest, unset;
};

static inline void *options_field(const struct options_row *row, struct container_options *o)
{
	return (char *)o + row->field;
}
static inline const void *options_const_field(
	const struct options_row *row, const struct container_options *o)
{
	return (const char *)o + row->field;
}
/* "option KEY: WANTED is wanted", with the row's code. Always -1. */
int options_wrong_type(const struct options_row *row, const char *wanted, struct error *err);

#define OPTIONS_READ(name) \
	int name(const struct options_row *row, const json_t *value, \
		struct container_options *raw, const struct container_options *normal, \
		struct error *err)
#define OPTIONS_CHECK(name) \
	int name(const struct options_row *row, const struct container_options *in, \
		struct container_options *out, struct error *err)

/* options-text.c */
OPTIONS_READ(options_text_read);
OPTIONS_CHECK(options_text_check);
OPTIONS_CHECK(options_text_check_trimmed);
OPTIONS_READ(options_text_read_list);
OPTIONS_CHECK(options_text_check_list);

/* options-number.c */
OPTIONS_READ(options_number_read);
OPTIONS_CHECK(options_number_check_range);
OPTIONS_CHECK(options_number_check_grace);
OPTIONS_CHECK(options_number_check_pids);
OPTIONS_READ(options_number_read_memory);
OPTIONS_CHECK(options_number_check_memory);
OPTIONS_READ(options_number_read_cpus);
OPTIONS_CHECK(options_number_check_cpus);
OPTIONS_READ(options_number_read_groups);
OPTIONS_CHECK(options_number_check_groups);
