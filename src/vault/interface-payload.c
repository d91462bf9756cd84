#include "vault/interface-payload.h"

#include "base/address.h"
#include "base/mem.h"
#include "base/num.h"
#include "vault/grant-constraint.h"
#include "vault/payload-lines.h"
#include "vault/payload.h"

enum { IFNAME_MAX = 15, MTU_LEAST = 68, MTU_LARGEST = 65536 };

static void entry_done(struct interface_entry *i)
{
	free(i->name);
	free(i->source);
	free(i->target);
	free(i->address);
	free(i->gateway);
}

void interface_payload_done(struct interface_payload *p)
{
	for (size_t i = 0; i < p->n; i++)
		entry_done(&p->v[i]);
	free(p->v);
	*p = (struct interface_payload){.v = NULL};
}

/* ---- Rules of single values ---- */

bool interface_payload_ifname(struct text t)
{
	if (t.len < 1 || t.len > IFNAME_MAX || t.p[0] == '-' || text_is(t, ".") || text_is(t, ".."))
		return false;
	for (size_t i = 0; i < t.len; i++)
		if (t.p[i] < 0x21 || t.p[i] > 0x7e || strchr("/:=,%", t.p[i]))
			return false;
	return true;
}

/* `podman` and digits. */
static bool podman_bridge(struct text t)
{
	if (!text_starts(t, "podman") || t.len == strlen("podman"))
		return false;
	for (size_t i = strlen("podman"); i < t.len; i++)
		if (!ascii_digit(t.p[i]))
			return false;
	return true;
}

bool interface_payload_forbidden(struct text source)
{
	return text_is(source, "lo") || text_is(source, "docker0") ||
	       text_is(source, "cni-podman0") || podman_bridge(source) ||
	       text_starts(source, "br-") || text_starts(source, "virbr");
}

/* ADDRESS/BITS, as far as its form goes. */
static bool parse_cidr(struct text t, struct address *ret, unsigned *ret_bits)
{
	struct text bits_text = t, literal = {"", 0};
	uint64_t bits;

	text_split(&bits_text, '/', &literal);
	if (!bits_text.p || !address_parse(literal, ret) ||
		num_parse(bits_text, address_bits(ret), &bits) != NUM_OK || bits == 0)
		return false;
	*ret_bits = (unsigned)bits;
	return true;
}

bool interface_payload_address(struct text cidr)
{
	struct address a;
	unsigned bits;

	if (!parse_cidr(cidr, &a, &bits) || address_unspecified(&a) || address_multicast(&a) ||
		address_loopback(&a))
		return false;
	if (address_bits(&a) - bits < 2)
		return true;
	return !address_host_part_is(&a, bits, false) &&
	       (a.family != AF_INET || !address_host_part_is(&a, bits, true));
}

bool interface_payload_gateway(struct text cidr, struct text gateway)
{
	struct address a, g;
	unsigned bits;

	return parse_cidr(cidr, &a, &bits) && address_parse(gateway, &g) &&
	       address_same_network(&a, &g, bits) &&
	       !address_same_network(&a, &g, address_bits(&a));
}

/* ---- Entries ---- */

enum attribute { TARGET, ADDRESS, GATEWAY, MTU, ATTRIBUTE_COUNT };

static const struct spelling {
	const char *key;
	enum attribute attribute;
} spellings[] = {
	{"target", TARGET},
	{"address", ADDRESS},
	{"addr", ADDRESS},
	{"gateway", GATEWAY},
	{"gw", GATEWAY},
	{"mtu", MTU},
};

/* One line, as views; p = NULL: not given. */
struct parsed {
	struct text name, source;
	struct text given[ATTRIBUTE_COUNT];
	uint64_t mtu;
};

static const struct spelling *find_spelling(struct text key)
{
	for (size_t i = 0; i < ARRAY_SIZE(spellings); i++)
		if (text_is(key, spellings[i].key))
			return &spellings[i];
	return NULL;
}

/* rest: what follows the interface's name; p = NULL: nothing. */
static const char *read_attributes(struct text rest, struct parsed *i)
{
	struct text pair;

	while (text_split(&rest, ',', &pair)) {
		struct text value = pair, key;
		text_split(&value, '=', &key);
		const struct spelling *s = find_spelling(key);
		if (!value.p)
			return "syntax";
		if (!s)
			return "unknown_key";
		if (i->given[s->attribute].p)
			return "duplicate_key";
		i->given[s->attribute] = value;
	}
	return NULL;
}

static const char *judge_attributes(struct parsed *i)
{
	const struct text *given = i->given;

	if (given[TARGET].p && !interface_payload_ifname(given[TARGET]))
		return "ifname";
	if (given[TARGET].p && text_is(given[TARGET], "lo"))
		return "forbidden";
	if (given[ADDRESS].p && !interface_payload_address(given[ADDRESS]))
		return "address";
	if (given[GATEWAY].p &&
		(!given[ADDRESS].p || !interface_payload_gateway(given[ADDRESS], given[GATEWAY])))
		return "gateway";
	if (given[MTU].p &&
		(num_parse(given[MTU], MTU_LARGEST, &i->mtu) != NUM_OK || i->mtu < MTU_LEAST))
		return "mtu";
	return NULL;
}

static struct text target_of(const struct parsed *i)
{
	return i->given[TARGET].p ? i->given[TARGET] : i->source;
}

static bool name_taken(const struct interface_payload *p, struct text name)
{
	for (size_t i = 0; i < p->n; i++)
		if (text_is(name, p->v[i].name))
			return true;
	return false;
}

static const char *find_duplicate(const struct interface_payload *p, const struct parsed *parsed)
{
	for (size_t i = 0; i < p->n; i++)
		if (text_is(parsed->source, p->v[i].source))
			return "duplicate_source";
	for (size_t i = 0; i < p->n; i++)
		if (text_is(target_of(parsed), p->v[i].target))
			return "duplicate_target";
	return NULL;
}

static const char *parse_entry(
	const struct interface_payload *p, struct text line, struct parsed *ret)
{
	struct text rest = line;

	text_split(&rest, '=', &ret->name);
	if (!rest.p)
		return "syntax";
	if (!grant_constraints_item_name(ret->name))
		return "name";
	if (name_taken(p, ret->name))
		return "duplicate_name";
	text_split(&rest, ',', &ret->source);
	if (!interface_payload_ifname(ret->source))
		return "ifname";
	if (interface_payload_forbidden(ret->source))
		return "forbidden";
	const char *fault = read_attributes(rest, ret);
	if (!fault)
		fault = judge_attributes(ret);
	return fault ? fault : find_duplicate(p, ret);
}

static char *copy(struct text t)
{
	return t.p ? mem_strndup(t.p, t.len) : NULL;
}

static int add_entry(void *context, struct text line, unsigned number, struct error *err)
{
	struct interface_payload *p = context;
	struct parsed i = {.mtu = 0};
	const char *fault = parse_entry(p, line, &i);

	if (fault)
		return payload_invalid(err, number, fault);
	p->v = mem_grow(p->v, p->n + 1, sizeof(*p->v));
	p->v[p->n++] = (struct interface_entry){
		.name = copy(i.name),
		.source = copy(i.source),
		.target = copy(target_of(&i)),
		.address = copy(i.given[ADDRESS]),
		.gateway = copy(i.given[GATEWAY]),
		.mtu = (int64_t)i.mtu,
	};
	return 0;
}

int interface_payload_read(struct text payload, struct interface_payload *ret, struct error *err)
{
	AUTO(interface_payload) p = {.v = NULL};

	if (payload_lines_read(payload, add_entry, &p, err) < 0)
		return -1;
	*ret = p;
	p = (struct interface_payload){.v = NULL};
	return 0;
}

/* ---- What a grant gives of it ---- */

int interface_payload_select(
	struct interface_payload *p, const struct strv *names, struct error *err)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->n; i++) {
		if (strv_has(names, p->v[i].name))
			p->v[kept++] = p->v[i];
		else
			entry_done(&p->v[i]);
	}
	p->n = kept;
	if (kept > 0)
		return 0;
	error_set(
		err, ERROR_GRANT_CONSTRAINT_INVALID, "the grant names no interface of the secret");
	return error_add_detail(err, "key", json_string("interfaces"));
}

char *interface_payload_names(const struct interface_payload *p)
{
	AUTO(strv) names = STRV_INIT(PAYLOAD_LINES_MAX);

	for (size_t i = 0; i < p->n; i++)
		strv_add(&names, p->v[i].name);
	return strv_join(&names, ",");
}
