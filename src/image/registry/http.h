/*
 * One request over libcurl, and its answer, within bounds (image-trust.md §6): nothing is followed,
 * repeated or remembered here. The address of every connection is checked when its socket is
 * opened.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strv.h"
#include "image/registry/body-digest.h"
#include "image/registry/url.h"

enum {
	HTTP_CONNECT_MS = 5000,
	HTTP_HEADERS_MAX = 32 << 10,  /* bytes of one answer, interim ones included */
	HTTP_ERROR_BODY_MAX = 4 << 10 /* of an answer that is not 200: what is read of it */
};

enum http_method { HTTP_HEAD, HTTP_GET, HTTP_POST };

/* The addresses that a connection may go to. */
enum http_addresses {
	HTTP_PUBLIC,
	HTTP_LOOPBACK,
	HTTP_NO_METADATA, /* any but metadata services and link-local ones */
	HTTP_ANY,
};

struct http_request {
	enum http_method method;
	const struct url *url;
	enum http_addresses addresses;
	const char *accept;         /* NULL: anything */
	const char *authorization;  /* secret: the value of the header, or NULL */
	const char *form;           /* secret: the body of a POST */
	bool secret;                /* the answer's body is one */
	size_t body_max;            /* of a 200; more is registry_bad_answer */
	struct body_digest *digest; /* counts the body; or NULL */
};

struct http_answer {
	long status;
	/* Headers that came exactly once; NULL otherwise. */
	char *content_type, *location;
	bool encoded;           /* Content-Encoding says other than identity */
	bool paged;             /* Link: there is more than this answer */
	struct strv digests;    /* of every Docker-Content-Digest */
	struct strv challenges; /* of every WWW-Authenticate */
	struct str body;        /* wiped at the end; what is not 200 is cut */
	bool special; /* a connection went to a special-purpose address, and was allowed */
};
void http_answer_done(struct http_answer *a);

struct http_client;
/* deadline_ms: CLOCK_BOOTTIME, for all its requests. cancel_fd: readable = give up; -1 = none. */
must_check struct http_client *http_client_new(
	int64_t deadline_ms, int cancel_fd, struct error *err);
void http_client_free(struct http_client *c);
DEFINE_AUTO_PTR(http_client)

/*
 * -1: registry_unreachable, registry_timeout, registry_tls, registry_address_blocked,
 * registry_bad_answer (a bound, no HTTP), start_cancelled. *ret is written, and to be released, on
 * success only.
 */
must_check int http_perform(struct http_client *c, const struct http_request *r,
	struct http_answer *ret, struct error *err);
/* Waits: 0; -1: start_cancelled, registry_timeout. */
must_check int http_pause(struct http_client *c, int ms, struct error *err);
