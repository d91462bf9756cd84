#include "net/nft-listing.h"

#include "base/json.h"

static void forget_handles(json_t *value)
{
	const char *key;
	size_t i;
	json_t *item;

	if (json_is_array(value))
		json_array_foreach(value, i, item) forget_handles(item);
	if (!json_is_object(value))
		return;
	json_object_del(value, "handle");
	json_object_foreach(value, key, item) forget_handles(item);
}

/* The objects of a listing without what changes from one to the next; NULL: it is none. */
static json_t *normalize(json_t *listing)
{
	json_t *list = json_object_get(listing, "nftables");
	size_t i = 0;

	if (!json_is_array(list))
		return NULL;
	while (i < json_array_size(list)) {
		if (json_object_get(json_array_get(list, i), "metainfo"))
			json_array_remove(list, i);
		else
			i++;
	}
	forget_handles(list);
	return json_array_size(list) > 0 ? list : NULL;
}

int nft_listing_fingerprint(struct text json, char out[SHA256_HEX_SIZE], struct error *err)
{
	auto_json *listing =
		json_read(json, NFT_LISTING_TABLE_MAX, "nft's listing", ERROR_NFT_FAILED, err);
	const json_t *list = listing ? normalize(listing) : NULL;

	if (!listing)
		return -1;
	if (!list)
		return error_set(err, ERROR_NFT_FAILED, "nft's listing holds no table");
	auto_free char *text = json_dumps(list, JSON_COMPACT | JSON_SORT_KEYS);
	sha256_hex(text_of(text ? text : ""), out);
	return 0;
}

/* What stands between two pieces of a line; len 0: it has not this form. */
static struct text between(struct text line, const char *before, const char *after)
{
	if (!text_starts(line, before))
		return (struct text){NULL, 0};
	line = text_after(line, strlen(before));
	const char *end = memmem(line.p, line.len, after, strlen(after));
	return end ? (struct text){line.p, (size_t)(end - line.p)} : (struct text){NULL, 0};
}

void nft_listing_tables(struct text rules, nft_listing_fn *fn, void *data)
{
	struct nft_listed t = {0};
	struct text line;
	bool inside = false;

	while (text_split(&rules, '\n', &line)) {
		struct text name = between(line, "table inet ", " {");
		struct text comment = between(line, "\tcomment \"", "\"");
		struct text bridge = between(line, "\t\tiifname \"", "\" goto ");
		if (name.len > 0) {
			t = (struct nft_listed){.name = name};
			inside = text_starts(name, NETWORK_TABLE_PREFIX);
		} else if (inside && comment.len > 0) {
			t.comment = comment;
		} else if (inside && bridge.len > 0) {
			t.bridge = bridge;
		} else if (inside && text_is(line, "}")) {
			fn(data, &t);
			inside = false;
		}
	}
}

bool nft_listing_owner(struct text comment, struct text *ret_home, struct text *ret_network)
{
	struct text word;

	if (!text_split(&comment, ' ', &word) || !text_is(word, "cloop") ||
		!text_split(&comment, ' ', ret_home) || ret_home->len == 0)
		return false;
	*ret_network = comment;
	return comment.len > 0 && !text_has_byte(comment, ' ');
}
