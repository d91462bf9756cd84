/*
 * jansson helpers: strict reading with a bound, NUL allowed in strings, typed members with a
 * default, and canonical writing. Nothing here does I/O.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strv.h"
#include "base/text.h"

static inline void json_freep(json_t **j)
{
	json_decref(*j);
}
#define auto_json __attribute__((cleanup(json_freep))) json_t

/*
 * One JSON value of at most `max` bytes; duplicate keys and trailing text are errors. NULL + err
 * (`code`, message begins with `what`).
 */
must_check json_t *json_read(
	struct text bytes, size_t max, const char *what, enum error_code code, struct error *err);
/* Compact, keys in insertion order; caller frees. */
must_check char *json_write(const json_t *value);
/* Indented by 2, for people; caller frees. */
must_check char *json_write_pretty(const json_t *value);

/* Members by key; an absent member or one of another type gives the default. */
struct text json_get_text(const json_t *object, const char *key);   /* absent: p = NULL */
const char *json_get_string(const json_t *object, const char *key); /* absent: NULL */
bool json_get_bool(const json_t *object, const char *key, bool absent);
int64_t json_get_int(const json_t *object, const char *key, int64_t absent);
/* String of a value that may hold NUL. */
struct text json_text(const json_t *value);

/*
 * A JSON string of any bytes: what is not UTF-8 becomes \xNN text (paths, engine words).
 */
must_check json_t *json_from_bytes(struct text t);
/* The list has this text; what is no list has none. */
bool json_list_has(const json_t *list, const char *text);

/* NULL gives JSON null. */
must_check json_t *json_from_string(const char *s);
/* A negative number means that it is not known: JSON null. */
must_check json_t *json_from_count(int64_t n);
must_check json_t *json_from_strings(char *const *v, size_t n);

/*
 * Bytes without loss: a JSON string, or {"hex": …} for what is no UTF-8; NULL gives JSON null.
 */
must_check json_t *json_exact(const char *s);
/* Reads either form back: caller frees; NULL when it is neither. */
must_check char *json_exact_bytes(const json_t *value);
/* Lists of them. -1: an item is neither, or the list is full. */
must_check json_t *json_exact_list(const struct strv *list);
must_check int json_exact_list_bytes(const json_t *array, struct strv *ret);
