/*
 * What a run does because others are on its network, too (network.md §9.4): an internal network
 * with a broker.
 */
#pragma once

#include <stdbool.h>

#include "base/hash.h"
#include "base/strv.h"
#include "executor/container/network/network-lock.h"
#include "net/engine-network.h"

struct supervisor;

enum { NETWORK_SHARED_AGAIN_MS = 20 };

/* Never waits. 0 held; 1: again in NETWORK_SHARED_AGAIN_MS; -1. */
must_check int network_shared_lock(
	struct supervisor *s, enum network_lock_part part, bool exclusive, struct error *err);
void network_shared_unlock(struct supervisor *s, enum network_lock_part part);
/* Adds the proxies of all other live runs on it. -1: they are not known, or too many. */
must_check int network_shared_proxies(struct supervisor *s, struct strv *ret, struct error *err);
/*
 * What the engine told a run that is on it now, so that it need not be asked again; *ret as
 * engine_network_read(). False: no such run, or the bridge is not the one that it joined.
 */
bool network_shared_known(const struct supervisor *s, struct engine_network *ret);
/*
 * The fingerprint of a table of those rules (`script` of struct network), which another run applied
 * and which is the last that was; by who holds the lock of the table. False: none is known.
 */
bool network_shared_applied(
	const struct supervisor *s, const char *script, char fingerprint[SHA256_HEX_SIZE]);
/*
 * The table is not as this run applied it: another run may have applied it anew. 0: it has, and
 * that is expected from now on; 1: it is just being done; -1: nobody did.
 */
must_check int network_shared_expected(struct supervisor *s, const char *fingerprint);
