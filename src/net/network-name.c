#include "net/network-name.h"

#include <stdio.h>

#include "base/hash.h"

enum { ID_MAX = 32, ID_HASH_DIGITS = 8, HANDLE_HASH_DIGITS = 12, TABLE_HASH_DIGITS = 16 };

/* The id as it may stand in the name of a network; at most ID_MAX bytes. */
static void slug(struct text id, char out[ID_MAX + 1])
{
	size_t n = 0;

	while (id.len > 0 && !ascii_alnum(id.p[0]))
		id = text_after(id, 1);
	while (id.len > 0 && !ascii_alnum(id.p[id.len - 1]))
		id.len--;
	if (id.len == 0)
		id = TEXT("default");
	for (; n < id.len && n < ID_MAX; n++)
		out[n] = ascii_alnum(id.p[n]) ? ascii_to_lower(id.p[n]) : '-';
	while (n > 0 && out[n - 1] == '-')
		n--;
	out[n] = '\0';
}

void network_name(struct text executor_id, struct text handle, char out[NETWORK_NAME_SIZE])
{
	char id[ID_MAX + 1], hash[SHA256_HEX_SIZE];

	slug(executor_id, id);
	int n = snprintf(out, NETWORK_NAME_SIZE, NETWORK_NAME_PREFIX "%s", id);
	if (!text_is(executor_id, id)) {
		sha256_hex(executor_id, hash);
		n += snprintf(
			out + n, NETWORK_NAME_SIZE - (size_t)n, "_%.*s", ID_HASH_DIGITS, hash);
	}
	if (handle.p) {
		sha256_hex(handle, hash);
		snprintf(out + n, NETWORK_NAME_SIZE - (size_t)n, ".%.*s", HANDLE_HASH_DIGITS, hash);
	}
}

void network_name_table(const char *network, char out[NETWORK_TABLE_SIZE])
{
	char hash[SHA256_HEX_SIZE];

	sha256_hex(text_of(network), hash);
	snprintf(out, NETWORK_TABLE_SIZE, NETWORK_TABLE_PREFIX "%.*s", TABLE_HASH_DIGITS, hash);
}

uint32_t network_name_seed(const char *network)
{
	enum { SEED_DIGITS = 8 };
	char hash[SHA256_HEX_SIZE];
	uint32_t seed = 0;

	sha256_hex(text_of(network), hash);
	for (unsigned i = 0; i < SEED_DIGITS; i++)
		seed = seed << 4 | (uint32_t)(hash[i] <= '9' ? hash[i] - '0' : hash[i] - 'a' + 10);
	return seed;
}
