/*
 * The URLs that a registry may send the client to (image-trust.md §6.2, §6.3): http and https, with
 * a host as references have it, and nothing that two parsers could read differently. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "image/reference.h"

enum { URL_MAX_BYTES = 2048 };

struct url {
	bool https;
	char host[IMAGE_NAME_MAX + 1]; /* lower case; an IPv6 address in its brackets */
	uint16_t port;
	char *target; /* path and query, from the first slash on; no fragment */
	bool has_fragment;
};
void url_done(struct url *u);

/* Each gives NULL and *ret, or what is wrong with the text, in a few words. */
/* SCHEME://HOST[:PORT]…, at most URL_MAX_BYTES of 0x21-0x7E, no userinfo. */
must_check const char *url_parse(struct text t, struct url *ret);
/* A reference relative to base, or an absolute one. */
must_check const char *url_resolve(const struct url *base, struct text t, struct url *ret);

/* Of a registry in normal form (HOST[:PORT]) and a target. */
void url_of_registry(bool https, const char *registry, const char *target, struct url *ret);

bool url_same_origin(const struct url *a, const struct url *b); /* scheme, host and port */
bool url_names_loopback(const struct url *u); /* localhost, or an address of that class */
/* HOST, or HOST:PORT where the port is not that of the scheme; caller frees. */
must_check char *url_authority(const struct url *u);
must_check char *url_render(const struct url *u);
