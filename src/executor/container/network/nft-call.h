/*
 * Running nft (network.md §7.1): found once where the system keeps programs of root, environment
 * only PATH. These calls take milliseconds and are waited for.
 */
#pragma once

#include <stdbool.h>

#include "base/hash.h"
#include "base/error.h"
#include "base/strv.h"
#include "net/nft-listing.h"

enum { NFT_CALL_TIMEOUT_MS = 15000 };

/* Absolute path, static; NULL: it is not there. */
const char *nft_call_program(void);
/* Environment of every call. */
char *const *nft_call_env(void);
/* We are root or hold CAP_NET_ADMIN. */
bool nft_call_permitted(void);

/* `nft list tables` succeeds. -1: nft_unavailable, nft_failed. */
must_check int nft_call_usable(struct error *err);
/* One transaction. -1: nft_unavailable, nft_failed. */
must_check int nft_call_apply(const struct str *script, struct error *err);
/* The fingerprint of a table that is there now. */
must_check int nft_call_fingerprint(
	const char *table, char out[SHA256_HEX_SIZE], struct error *err);
/* Shows every table `cloop_sbx_…` there is. */
must_check int nft_call_tables(nft_listing_fn *fn, void *data, struct error *err);
/* Words of a listing that a fingerprint is made of, nft first, for who does not wait for it. */
enum { NFT_CALL_WORDS_MAX = 8 };
void nft_call_list_words(const char *table, struct strv *ret);
/* What nft says of a table that is not there. */
bool nft_call_says_missing(struct text words);
