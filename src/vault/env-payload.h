/* Payloads of kind env: one variable, or a JSON object of them (disk-and-secrets.md §16.4). Pure.
 */
#pragma once

#include <stddef.h>

#include "base/error.h"
#include "base/secret.h"
#include "base/strv.h"
#include "base/text.h"

enum { ENV_PAYLOAD_MAX = 64, ENV_PAYLOAD_VARIABLE_MAX = 131071 };

enum env_format { ENV_FORMAT_AUTO, ENV_FORMAT_VALUE, ENV_FORMAT_OBJECT, ENV_FORMAT_COUNT };
const char *env_format_text(enum env_format f); /* "auto", "value", "object" */
int env_format_from_text(struct text t);

struct env_variable {
	char *name;
	struct secret value;
};
struct env_payload {
	struct env_variable *v;
	size_t n;
};
void env_payload_done(struct env_payload *p);

struct env_payload_options {
	struct text secret;   /* its name */
	struct text env_name; /* of --env; p = NULL: none. Implies ENV_FORMAT_VALUE */
	enum env_format format;
};
/*
 * The variables in the payload's order. -1: secret_payload_invalid with the first reason of §16.4
 * (payload.h); *ret is not written.
 */
must_check int env_payload_read(const struct env_payload_options *options, struct text payload,
	struct env_payload *ret, struct error *err);
/* Keeps the variables that the grant's constraint names; an empty list keeps all. */
void env_payload_select(struct env_payload *p, const struct strv *env_keys);
