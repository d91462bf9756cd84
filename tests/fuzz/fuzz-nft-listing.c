/*
 * What nft says (network.md §7.2, §9.6): a fingerprint does not depend on handles, the order of
 * members or the head of the listing; a table that is shown is one of ours, and its texts lie
 * within the listing.
 */
#include <assert.h>

#include "net/nft-listing.h"
#include "json-mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool within(struct text part, struct text whole)
{
	return part.len == 0 || (part.p >= whole.p && part.p + part.len <= whole.p + whole.len);
}

static void see(void *data, const struct nft_listed *t)
{
	const struct text *whole = data;
	struct text home, network;

	assert(text_starts(t->name, NETWORK_TABLE_PREFIX));
	assert(within(t->name, *whole) && within(t->comment, *whole) && within(t->bridge, *whole));
	assert(!text_has_byte(t->name, '\n') && !text_has_byte(t->comment, '\n'));
	if (nft_listing_owner(t->comment, &home, &network))
		assert(home.len > 0 && network.len > 0 && !text_has_byte(network, ' ') &&
			within(home, t->comment) && within(network, t->comment));
}

/* The same listing, applied anew: other handles, and what nft says of itself in front. */
static json_t *applied_again(const json_t *listing)
{
	json_t *again = json_deep_copy(listing), *list = json_object_get(again, "nftables"), *item;
	size_t i;

	json_array_foreach(list, i, item)
		json_object_set_new(item, "handle", json_integer((json_int_t)i + 7));
	json_array_insert_new(list, 0, json_pack("{s:{s:s}}", "metainfo", "version", "1.0.6"));
	return again;
}

static void check_fingerprint(struct text json)
{
	auto_error struct error err = ERROR_INIT;
	char first[SHA256_HEX_SIZE], second[SHA256_HEX_SIZE];

	if (nft_listing_fingerprint(json, first, &err) < 0) {
		assert(error_is(&err, ERROR_NFT_FAILED));
		return;
	}
	assert(text_is_hex(text_of(first), SHA256_HEX_SIZE - 1));
	auto_json *listing = json_read(json, json.len, "listing", ERROR_IO, &err);
	auto_json *again = applied_again(listing);
	auto_free char *text = json_write(again);
	int r = nft_listing_fingerprint(text_of(text), second, &err);
	assert(r == 0 && strcmp(first, second) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text t = {(const char *)data, size};

	nft_listing_tables(t, see, &t);
	check_fingerprint(t);
	return 0;
}
