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
/* The form of a POST with an identity token. Caller releases. */
void token_form(const struct token_question *q, struct text identity_token, struct secret *ret);

/* "Basic …" of a login with a password. Caller releases. */
void token_basic(const struct auth_login *login, struct secret *ret);
/* "Bearer …" from a realm's answer; caller releases. -1: registry_bad_answer. */
must_check int token_bearer(struct text answer, struct secret *ret, struct error *err);
