/*
 * One resolution (image-trust.md §6): requests to one repository of one registry, with its
 * redirects, its login and its second attempts, within the bounds of them all.
 */
#pragma once

#include "image/registry/http.h"
#include "image/registry/registry.h"

enum { SESSION_MS = 15000, SESSION_REQUESTS_MAX = 8, SESSION_REDIRECTS_MAX = 3 };

struct session {
	const struct registry_question *question;
	struct http_client *http;
	struct url api;       /* the registry */
	bool special_is_fine; /* its address may be a special-purpose one */
	bool special;         /* and is one */
	bool authenticated;   /* a challenge was answered; there is no second time */
	struct secret authorization;
	unsigned requests;
};
void session_done(struct session *s);
/* Touches no network. -1: registry_unnamed, registry_unreachable (no libcurl). */
must_check int session_open(
	const struct registry_question *q, struct session *ret, struct error *err);

struct session_request {
	enum http_method method; /* HTTP_HEAD, HTTP_GET */
	const char *kind;        /* manifests, blobs, referrers */
	const char *name;        /* tag or digest */
	const char *accept;
	size_t body_max;
	struct body_digest *digest; /* or NULL */
};
/*
 * 0: *ret is an answer other than 401, 403, 429, a redirect or (HEAD: 501 aside) 5xx. -1: any error
 * of registry.h.
 */
must_check int session_ask(struct session *s, const struct session_request *r,
	struct http_answer *ret, struct error *err);
/* One GET /v2/, and the status that answers it. */
must_check int session_ping(struct session *s, long *ret_status, struct error *err);
/* The error of an answer that is not 200: tag_not_found, registry_bad_answer. Always -1. */
int session_refuse(const struct session *s, const struct http_answer *a, struct error *err);
/* A body of content encoding identity; -1: registry_bad_answer. */
must_check int session_check_encoding(const struct http_answer *a, struct error *err);
