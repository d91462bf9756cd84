#include "net/egress-rules.h"

#include <stdio.h>

#include "base/mem.h"

struct builder {
	struct egress_policy *policy;
	size_t room;
};

static struct egress_rule *add(struct builder *b, enum egress_stage stage, const struct cidr *to)
{
	struct egress_policy *p = b->policy;

	if (p->n_rules == b->room) {
		b->room = b->room ? b->room * 2 : 64;
		p->rules = mem_grow(p->rules, b->room, sizeof(*p->rules));
	}
	struct egress_rule *r = &p->rules[p->n_rules++];
	*r = (struct egress_rule){.stage = stage, .to = *to};
	return r;
}

static void drop(
	struct builder *b, enum egress_stage stage, const struct cidr *to, const char *reason)
{
	snprintf(add(b, stage, to)->reason, EGRESS_REASON_SIZE, "%s", reason);
}

static struct egress_rule *allow(
	struct builder *b, enum egress_stage stage, const struct cidr *to, const char *reason)
{
	struct egress_rule *r = add(b, stage, to);

	r->allow = true;
	r->protocol = EGRESS_TCP;
	snprintf(r->reason, EGRESS_REASON_SIZE, "%s", reason);
	return r;
}

static void add_loopback(struct builder *b)
{
	static const struct cidr inside[] = {{{AF_INET, {127}}, 8}, {{AF_INET6, {[15] = 1}}, 128}};

	for (size_t i = 0; i < ARRAY_SIZE(inside); i++)
		allow(b, EGRESS_LOOPBACK, &inside[i], "loopback inside the sandbox")->protocol =
			EGRESS_ANY;
}

static void add_endpoints(struct builder *b, const struct egress_lists *l)
{
	for (size_t i = 0; i < l->n_gates; i++) {
		struct cidr host = cidr_host(&l->gates[i].at.address);
		allow(b, EGRESS_ENDPOINT, &host,
			l->gates[i].proxy ? "egress proxy" : "egress broker")
			->port = l->gates[i].at.port;
	}
	for (size_t i = 0; i < l->n_resolvers; i++) {
		struct cidr host = cidr_host(&l->resolvers[i].address);
		struct egress_rule *r = allow(b, EGRESS_ENDPOINT, &host, "resolver");
		r->protocol = EGRESS_UDP;
		r->port = l->resolvers[i].port;
		allow(b, EGRESS_ENDPOINT, &host, "resolver")->port = l->resolvers[i].port;
	}
}

static void add_translations(struct builder *b)
{
	size_t n;
	const struct special_block *rows = special_address_translations(&n);

	for (size_t i = 0; i < n; i++) {
		struct cidr c = cidr_of_block(&rows[i]);
		drop(b, EGRESS_TRANSLATION, &c, special_class_text(rows[i].class));
	}
}

static void drop_service(struct builder *b, enum egress_stage stage, const struct cidr *host)
{
	char address[INET6_ADDRSTRLEN];

	address_text(&host->address, address);
	snprintf(add(b, stage, host)->reason, EGRESS_REASON_SIZE, "cloud metadata service (%s)%s",
		address,
		stage == EGRESS_METADATA ? " inside an allowed range that does not name it" : "");
}

/* Each service once, whatever the number of ranges around it. */
static void add_carved(struct builder *b, const struct egress_lists *l)
{
	struct cidr hosts[METADATA_MAX];
	struct metadata_services found;
	size_t n = 0;

	for (size_t i = 0; i < l->n_allow; i++) {
		egress_lists_services(l, &l->allow[i], &found);
		for (size_t j = 0; j < found.n; j++) {
			struct cidr host = cidr_of_block(found.v[j]);
			size_t k = 0;
			while (k < n && cidr_compare(&hosts[k], &host) != 0)
				k++;
			if (k == n)
				hosts[n++] = host;
		}
	}
	n = cidr_normalize(hosts, n);
	for (size_t i = 0; i < n; i++)
		drop_service(b, EGRESS_METADATA, &hosts[i]);
}

static void add_granted(struct builder *b, const struct egress_lists *l)
{
	for (size_t i = 0; i < l->n_allow; i++) {
		enum special_class class = cidr_class(&l->allow[i]);
		struct egress_rule *r = allow(b, EGRESS_GRANTED, &l->allow[i], "granted CIDR");
		if (class != SPECIAL_NONE)
			snprintf(r->reason, EGRESS_REASON_SIZE, "granted CIDR (waives %s)",
				special_class_text(class));
	}
}

static void add_blocks(struct builder *b)
{
	size_t n;
	const struct special_block *rows = special_address_blocks(&n);

	for (size_t i = 0; i < n; i++) {
		struct cidr c = cidr_of_block(&rows[i]);
		if (rows[i].class == SPECIAL_METADATA)
			drop_service(b, EGRESS_BLOCKED, &c);
		else
			drop(b, EGRESS_BLOCKED, &c, special_class_text(rows[i].class));
	}
}

void egress_rules_build(const struct egress_lists *l, bool public_internet, struct egress_policy *p)
{
	static const struct cidr everything[] = {{{AF_INET, {0}}, 0}, {{AF_INET6, {0}}, 0}};
	struct builder b = {.policy = p};

	add_loopback(&b);
	for (size_t i = 0; i < l->n_deny; i++)
		drop(&b, EGRESS_DENIED, &l->deny[i], "deny list");
	add_endpoints(&b, l);
	add_translations(&b);
	add_carved(&b, l);
	add_granted(&b, l);
	add_blocks(&b);
	for (size_t i = 0; public_internet && i < ARRAY_SIZE(everything); i++)
		allow(&b, EGRESS_PUBLIC, &everything[i], "public Internet");
}
