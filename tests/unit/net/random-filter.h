/*
 * Filters and packets from a seeded generator, biased to where ranges and blocks meet; and two
 * independent readings of what a compiled filter is written as: the nft script and the
 * NetworkPolicy. Used by the unit test and by the fuzz target.
 */
#pragma once

#include <stdlib.h>
#include <arpa/inet.h>
#include <assert.h>
#include <stdio.h>

#include "base/json.h"
#include "net/egress-evaluate.h"
#include "net/endpoint.h"
#include "net/network-policy.h"
#include "net/nft-script.h"

/* xorshift64*; or bytes of a fuzzer, then zeros. */
struct random {
	uint64_t state;
	const uint8_t *bytes;
	size_t left;
};

static inline uint32_t random_next(struct random *r)
{
	uint32_t v = 0;

	if (r->bytes) {
		for (int i = 0; i < 2 && r->left > 0; i++, r->left--)
			v = v << 8 | *r->bytes++;
		return v;
	}
	r->state ^= r->state >> 12;
	r->state ^= r->state << 25;
	r->state ^= r->state >> 27;
	return (uint32_t)(r->state * 0x2545f4914f6cdd1dULL >> 32);
}

static inline uint32_t random_below(struct random *r, uint32_t n)
{
	return random_next(r) % n;
}

/* Of a block, a translation prefix, or anywhere; often at the edge of it or just outside. */
static inline struct address random_address(struct random *r)
{
	size_t n_blocks, n_forms;
	const struct special_block *blocks = special_address_blocks(&n_blocks);
	const struct special_block *forms = special_address_translations(&n_forms);
	struct address a = {.family = random_below(r, 2) ? AF_INET : AF_INET6};
	uint32_t from = random_below(r, 4);

	for (unsigned i = 0; i < address_bits(&a) / 8; i++)
		a.bytes[i] = (unsigned char)random_next(r);
	if (from < 2) {
		uint32_t row = random_below(r, (uint32_t)(n_blocks + n_forms));
		const struct special_block *b =
			row < n_blocks ? &blocks[row] : &forms[row - n_blocks];
		struct address inside = b->address;
		/* Keep its prefix but for a bit, now and then. */
		for (unsigned bit = b->bits; bit < address_bits(&inside); bit++) {
			uint32_t fill = from == 0 ? random_below(r, 2) : (uint32_t)(row & 1);
			inside.bytes[bit / 8] |= (unsigned char)(fill << (7 - bit % 8));
		}
		if (b->bits > 0 && random_below(r, 4) == 0) {
			unsigned bit = random_below(r, b->bits);
			inside.bytes[bit / 8] ^= (unsigned char)(1 << (7 - bit % 8));
		}
		a = inside;
	}
	return address_unmapped(&a);
}

static inline void random_cidrs(struct random *r, struct strv *list, uint32_t max)
{
	for (uint32_t n = random_below(r, max + 1); n > 0; n--) {
		struct address a = random_address(r);
		struct cidr c = {a, random_below(r, address_bits(&a) + 1)};
		if (random_below(r, 3) == 0)
			c.bits = address_bits(&a);
		char text[CIDR_TEXT_SIZE];
		cidr_text(&c, text);
		int added = strv_add(list, text);
		assert(added == 0);
	}
}

static inline void random_endpoints(struct random *r, struct strv *list, uint32_t max)
{
	for (uint32_t n = random_below(r, max + 1); n > 0; n--) {
		struct endpoint e = {random_address(r), (uint16_t)(random_below(r, 3) ? 53 : 8118)};
		char text[ENDPOINT_TEXT_SIZE];
		endpoint_text(&e, text);
		int added = strv_add(list, text);
		assert(added == 0);
	}
}

static inline void random_filter(struct random *r, struct egress_filter *f)
{
	static const char *const ports[] = {"443", "80", "53", "8118", "1", "65535"};
	struct strv brokers = STRV_INIT(1);

	egress_filter_init(f);
	f->enabled = true;
	random_cidrs(r, &f->allow_cidrs, 4);
	random_cidrs(r, &f->deny_cidrs, 3);
	random_endpoints(r, &f->resolvers, 2);
	random_endpoints(r, &f->proxies, 1);
	random_endpoints(r, &brokers, 1);
	if (brokers.n > 0)
		f->broker = strdup(brokers.v[0]);
	strv_done(&brokers);
	f->allow_public_internet = random_below(r, 2);
	f->allow_all_ports = random_below(r, 4) == 0;
	for (uint32_t n = random_below(r, 4); n > 0 && !f->allow_all_ports; n--) {
		int added = strv_add(&f->allow_ports, ports[random_below(r, ARRAY_SIZE(ports))]);
		assert(added == 0);
	}
}

/* A packet: anywhere, or at the edges of a rule. */
static inline struct egress_probe random_probe(struct random *r, const struct egress_policy *p)
{
	static const uint16_t ports[] = {443, 80, 53, 8118, 1, 65535, 22};
	struct egress_probe probe = {random_address(r),
		random_below(r, 3) ? EGRESS_TCP : EGRESS_UDP,
		ports[random_below(r, ARRAY_SIZE(ports))]};

	if (random_below(r, 2) == 0) {
		const struct cidr *c = &p->rules[random_below(r, (uint32_t)p->n_rules)].to;
		struct address a = c->address;
		bool last = random_below(r, 2);
		for (unsigned bit = c->bits; last && bit < address_bits(&a); bit++)
			a.bytes[bit / 8] |= (unsigned char)(1 << (7 - bit % 8));
		if (random_below(r, 3) == 0 && c->bits > 0)
			a.bytes[(c->bits - 1) / 8] ^= (unsigned char)(1 << (7 - (c->bits - 1) % 8));
		probe.address = address_unmapped(&a);
	}
	return probe;
}

/* ---- A reading of the nft script: exactly the forms that are written ---- */

/* Does the prefix "ADDRESS/BITS" hold the address? By bits, not by our own code. */
static inline bool reader_prefix_has(struct text prefix, const struct egress_probe *p)
{
	struct text rest = prefix, address;
	char text[INET6_ADDRSTRLEN];
	unsigned char base[16] = {0};
	unsigned bits = 0;

	text_split(&rest, '/', &address);
	memcpy(text, address.p, address.len);
	text[address.len] = '\0';
	if (inet_pton(p->address.family, text, base) != 1)
		return false;
	for (size_t i = 0; i < rest.len; i++)
		bits = bits * 10 + (unsigned)(rest.p[i] - '0');
	for (unsigned i = 0; i < bits; i++)
		if ((base[i / 8] ^ p->address.bytes[i / 8]) & (0x80 >> i % 8))
			return false;
	return true;
}

static inline bool reader_take(struct text *t, const char *word)
{
	if (!text_starts(*t, word))
		return false;
	*t = text_after(*t, strlen(word));
	return true;
}

static inline struct text reader_word(struct text *t)
{
	struct text word = {0};

	text_split(t, ' ', &word);
	return word;
}

static inline bool reader_port_listed(struct text *t, uint16_t port)
{
	char wanted[8];
	bool listed = false;

	snprintf(wanted, sizeof(wanted), "%u", (unsigned)port);
	if (!reader_take(t, "{ "))
		return text_is(reader_word(t), wanted);
	for (struct text word; !text_is(word = reader_word(t), "}");) {
		if (text_ends(word, ","))
			word.len--;
		listed |= text_is(word, wanted);
	}
	return listed;
}

/* One line of a chain: 1 accept, 0 refuse, -1 it does not match. */
static inline int reader_line(struct text line, const struct egress_probe *p)
{
	bool v4 = p->address.family == AF_INET, match = true;

	if (reader_take(&line, "ct state ") || reader_take(&line, "icmpv6 "))
		return -1; /* a new TCP or UDP packet is neither */
	if (reader_take(&line, "ip daddr "))
		match &= v4 & reader_prefix_has(reader_word(&line), p);
	else if (reader_take(&line, "ip6 daddr "))
		match &= !v4 & reader_prefix_has(reader_word(&line), p);
	else if (reader_take(&line, "meta nfproto "))
		match &= text_is(reader_word(&line), v4 ? "ipv4" : "ipv6");
	if (reader_take(&line, "tcp dport "))
		match &= reader_port_listed(&line, p->port) && p->protocol == EGRESS_TCP;
	else if (reader_take(&line, "udp dport "))
		match &= reader_port_listed(&line, p->port) && p->protocol == EGRESS_UDP;
	else if (reader_take(&line, "meta l4proto tcp "))
		match &= p->protocol == EGRESS_TCP;
	bool counted = reader_take(&line, "counter ");
	assert(counted);
	bool accept = reader_take(&line, "accept comment \"");
	bool refuse = !accept && reader_take(&line, "goto refuse comment \"");
	assert(accept || refuse);
	return match ? accept : -1;
}

/* Walks one chain of the script; every chain ends in a rule that matches. */
static inline bool reader_chain(const char *script, const char *chain, const struct egress_probe *p)
{
	char head[64];

	snprintf(head, sizeof(head), "\tchain %s {\n", chain);
	const char *at = strstr(script, head);
	assert(at);
	struct text rest = text_of(at + strlen(head)), line;
	while (text_split(&rest, '\n', &line)) {
		if (text_is(line, "\t}"))
			break;
		bool indented = reader_take(&line, "\t\t");
		assert(indented);
		if (text_starts(line, "type filter"))
			continue;
		int answer = reader_line(line, p);
		if (answer >= 0)
			return answer;
	}
	abort(); /* a chain without an end */
}

/* ---- A reading of the NetworkPolicy: the union of its entries ---- */

static inline bool reader_port_entry(json_t *ports, const struct egress_probe *p)
{
	size_t i;
	json_t *port;

	json_array_foreach(ports, i, port)
	{
		if (!text_is(json_get_text(port, "protocol"),
			    p->protocol == EGRESS_TCP ? "TCP" : "UDP"))
			continue;
		if (!json_object_get(port, "port") || json_get_int(port, "port", 0) == p->port)
			return true;
	}
	return false;
}

static inline bool reader_peer(json_t *peer, const struct egress_probe *p)
{
	json_t *block = json_object_get(peer, "ipBlock"), *except;
	size_t i;

	if (!reader_prefix_has(json_get_text(block, "cidr"), p))
		return false;
	json_array_foreach(json_object_get(block, "except"), i,
		except) if (reader_prefix_has(json_text(except), p)) return false;
	return true;
}

static inline bool reader_policy(json_t *object, const struct egress_probe *p)
{
	size_t i, j;
	json_t *entry, *peer;

	json_array_foreach(json_object_get(json_object_get(object, "spec"), "egress"), i, entry)
	{
		if (!reader_port_entry(json_object_get(entry, "ports"), p))
			continue;
		json_array_foreach(json_object_get(entry, "to"), j,
			peer) if (reader_peer(peer, p)) return true;
	}
	return false;
}

/* ---- All readings of a policy agree on a packet ---- */

struct readings {
	struct str bridge, name_space;
	json_t *object;
};

static inline void readings_make(const struct egress_policy *p, struct readings *r)
{
	auto_error struct error err = ERROR_INIT;
	auto_json *selector = json_pack("{s:s}", "a", "b");
	struct nft_script_names names = {NFT_BRIDGE, TEXT("t"), TEXT("b"), TEXT("c")};
	struct network_policy_names of = {TEXT("n"), TEXT("s"), selector, false};

	r->bridge = STR_INIT(NFT_SCRIPT_MAX);
	r->name_space = STR_INIT(NFT_SCRIPT_MAX);
	int bridge = nft_script_render(p, &names, &r->bridge, &err);
	names.form = NFT_NAMESPACE;
	int inside = nft_script_render(p, &names, &r->name_space, &err);
	r->object = network_policy_render(p, &of, &err);
	assert(bridge == 0 && inside == 0 && r->object);
	assert(!str_full(&r->bridge) && !str_full(&r->name_space));
}

static inline void readings_done(struct readings *r)
{
	str_done(&r->bridge);
	str_done(&r->name_space);
	json_decref(r->object);
}

static inline bool reader_evaluate(
	const struct egress_policy *p, const struct egress_probe *probe, unsigned flags)
{
	const struct egress_rule *rule = egress_evaluate(p, probe, flags);

	return rule && rule->allow;
}

/* "" or which reading differs. */
static inline const char *readings_disagree(
	const struct egress_policy *p, const struct readings *r, const struct egress_probe *probe)
{
	bool wire = reader_evaluate(p, probe, EGRESS_WIRE);

	if (reader_chain(str_text(&r->bridge), "from_sandbox", probe) != wire)
		return "from_sandbox";
	if (reader_chain(str_text(&r->bridge), "to_host", probe) !=
		reader_evaluate(p, probe, EGRESS_WIRE | EGRESS_TO_HOST))
		return "to_host";
	if (reader_chain(str_text(&r->name_space), "output", probe) != reader_evaluate(p, probe, 0))
		return "output";
	return reader_policy(r->object, probe) != wire ? "NetworkPolicy" : "";
}
