/* Host names, HOST:ADDRESS entries and /etc/hosts of a sandbox (container-driver.md §5.7, §7.4). */
#pragma once

#include "base/error.h"
#include "base/str.h"
#include "base/text.h"
#include "base/address.h"

struct hosts_entry {
	struct text host; /* a view into what was parsed */
	struct address address;
};

/*
 * At most 253 bytes of labels joined by dots: 1-63 letters, digits, `_` and `-`, no dash at either
 * end.
 */
bool hosts_name_valid(struct text t);
/*
 * HOST:ADDRESS, IPv6 with or without brackets. -1: ERROR_ADD_HOST_INVALID, or
 * ERROR_ADD_HOST_ADDRESS for an address that is not of one machine. The name localhost is refused
 * in any case of letters, since resolvers ignore case.
 */
must_check int hosts_entry_parse(struct text t, struct hosts_entry *ret, struct error *err);
/*
 * The whole file: the two lines of the sandbox itself, then one line per entry in order. What does
 * not parse is left out; the caller validated before, and gives no entries when the network is
 * none.
 */
void hosts_file(
	struct str *out, struct text hostname, const struct text *add_hosts, size_t n_add_hosts);
