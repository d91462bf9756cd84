/*
 * What nft says of tables that are there (network.md §7.2, §9.6, §9.7). Pure; text of any bytes is
 * judged.
 */
#pragma once

#include "base/hash.h"
#include "base/error.h"
#include "base/text.h"
#include "net/network-name.h"

enum {
	NFT_LISTING_TABLE_MAX =
		8 << 20, /* `nft -j -s list table` of the largest policy, with room */
	NFT_LISTING_RULES_MAX = 64 << 20,
};

/*
 * The fingerprint of `nft -j -s list table inet T`: two listings of the same rules have the same,
 * whenever and however often they were applied. -1: nft_failed, it is no such listing.
 */
must_check int nft_listing_fingerprint(
	struct text json, char out[SHA256_HEX_SIZE], struct error *err);

/* A table of ours; texts point into the listing. */
struct nft_listed {
	struct text name;
	struct text comment; /* len 0: none */
	struct text bridge;  /* len 0: it names none */
};
typedef void nft_listing_fn(void *data, const struct nft_listed *table);
/* Every table `cloop_sbx_…` of `nft list ruleset inet`. */
void nft_listing_tables(struct text rules, nft_listing_fn *fn, void *data);
/* `cloop HOME NETWORK`, as a table's comment says whose it is; false: it says something else. */
bool nft_listing_owner(struct text comment, struct text *ret_home, struct text *ret_network);
