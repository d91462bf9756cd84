/* The answer to a Bearer challenge (image-trust.md §6.3): what is asked, and what came. Pure. */
#pragma once

#include "base/error.h"
#include "image/auth.h"
#include "image/challenge.h"
#include "image/registry/url.h"

enum { TOKEN_ANSWER_MAX = 64 << 10, TOKEN_MAX_BYTES = 16384 };

struct token_question {
	const struct challenge *challenge;
	const char *repository;
	const struct url *registry; /* where the challenge came from */
};

/*
 * The URL of the realm; -1: registry_bad_answer, a realm that is not https (nor the loopback
 * registry's own), holds user information or a fragment, or is too long.
 */
must_check int token_realm(const struct token_question *q, struct url *ret, struct error *err);
/* The realm's target with service and scope behind it; the server's own scope is never echoed. */
void token_add_query(const struct token_question *q, struct url *realm);
/* The form of a POST with an identity token; secret, caller wipes and frees. */
must_check char *token_form(const struct token_question *q, const char *identity_token);

/* "Basic …" of a login with a password; secret, caller wipes and frees. */
must_check char *token_basic(const struct auth_login *login);
/* "Bearer …" from a realm's answer; secret, caller wipes and frees. NULL: registry_bad_answer. */
must_check char *token_bearer(struct text answer, struct error *err);
