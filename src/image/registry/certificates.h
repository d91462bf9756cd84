/*
 * Further CAs of one registry, as docker and podman take them: *.crt in
 * /etc/containers/certs.d/HOST[:PORT] and /etc/docker/certs.d/HOST[:PORT] (image-trust.md §6).
 */
#pragma once

#include "base/error.h"
#include "base/str.h"

struct url;

enum { CERTIFICATES_MAX_BYTES = 4 << 20 };
#define CERTIFICATES_INIT STR_INIT(CERTIFICATES_MAX_BYTES)

/*
 * For the host of a URL; that of the scheme is a port that may be written or left out. Appends
 * their PEM text to *ret (CERTIFICATES_INIT), behind that of system_bundle if there are any;
 * nothing when there are none. -1: registry_tls, a file that cannot be read, or too much.
 */
must_check int certificates_read(
	const struct url *u, const char *system_bundle, struct str *ret, struct error *err);
