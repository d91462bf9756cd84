/*
 * JSON that holds secrets (login files, token answers): every piece of memory that reading and
 * freeing it gives back is wiped first, and a message about it never quotes it.
 */
#pragma once

#include "base/error.h"
#include "base/json.h"
#include "base/secret.h"

/* As json_read(); the message of malformed text says the line and nothing of the content. */
must_check json_t *json_secret_read(
	struct text bytes, size_t max, const char *what, enum error_code code, struct error *err);
/* Compact, keys in insertion order. What *ret held is not looked at. */
void json_secret_write(const json_t *value, struct secret *ret);
/* The one way to free it. */
void json_secret_free(json_t *value);

static inline void json_secret_freep(json_t **j)
{
	json_secret_free(*j);
}
#define auto_json_secret __attribute__((cleanup(json_secret_freep))) json_t
