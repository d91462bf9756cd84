/*
 * Payloads of interfaces (disk-and-secrets.md §16.2): what is accepted keeps the rules, and written
 * out in full it reads as the same.
 */
#include <assert.h>
#include <stdint.h>

#include "base/str.h"
#include "vault/interface-payload.h"
#include "vault/payload-lines.h"

static void check_entry(const struct interface_entry *i)
{
	assert(interface_payload_ifname(text_of(i->source)));
	assert(interface_payload_ifname(text_of(i->target)) && strcmp(i->target, "lo") != 0);
	assert(!interface_payload_forbidden(text_of(i->source)));
	assert(!i->address || interface_payload_address(text_of(i->address)));
	assert(!i->gateway || i->address);
	assert(i->mtu == 0 || (i->mtu >= 68 && i->mtu <= 65536));
}

static void write_entry(const struct interface_entry *i, struct str *out)
{
	str_addf(out, "%s=%s,target=%s", i->name, i->source, i->target);
	if (i->address)
		str_addf(out, ",addr=%s", i->address);
	if (i->gateway)
		str_addf(out, ",gw=%s", i->gateway);
	if (i->mtu)
		str_addf(out, ",mtu=%lld", (long long)i->mtu);
	str_add_char(out, '\n');
}

static bool same_text(const char *a, const char *b)
{
	return (!a && !b) || (a && b && strcmp(a, b) == 0);
}

static bool same(const struct interface_entry *a, const struct interface_entry *b)
{
	return same_text(a->name, b->name) && same_text(a->source, b->source) &&
	       same_text(a->target, b->target) && same_text(a->address, b->address) &&
	       same_text(a->gateway, b->gateway) && a->mtu == b->mtu;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(interface_payload) first = {.v = NULL};
	AUTO(interface_payload) second = {.v = NULL};
	AUTO(str) full = STR_INIT(1 << 20);

	if (interface_payload_read((struct text){(const char *)data, size}, &first, &err) < 0) {
		assert(error_is(&err, ERROR_SECRET_PAYLOAD_INVALID));
		return 0;
	}
	assert(first.n > 0 && first.n <= PAYLOAD_LINES_MAX);
	for (size_t i = 0; i < first.n; i++) {
		check_entry(&first.v[i]);
		write_entry(&first.v[i], &full);
	}
	int again = interface_payload_read((struct text){str_text(&full), full.len}, &second, &err);
	assert(again == 0 && second.n == first.n);
	for (size_t i = 0; i < first.n; i++)
		assert(same(&first.v[i], &second.v[i]));
	return 0;
}
