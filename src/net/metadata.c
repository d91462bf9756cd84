#include "net/metadata.h"

static bool covered(const struct cidr *host, struct cidr_list list, bool hosts_only)
{
	for (size_t i = 0; i < list.n; i++)
		if ((!hosts_only || cidr_is_host(&list.v[i])) && cidr_contains(&list.v[i], host))
			return true;
	return false;
}

/* Keeps the list sorted: the table is in the order of its rules. */
static void insert(struct metadata_services *s, const struct special_block *b)
{
	size_t at = s->n++;

	for (; at > 0 && address_compare(&s->v[at - 1]->address, &b->address) > 0; at--)
		s->v[at] = s->v[at - 1];
	s->v[at] = b;
}

void metadata_find(const struct cidr *range, struct cidr_list allow, struct cidr_list deny,
	struct metadata_services *ret)
{
	size_t n;
	const struct special_block *blocks = special_address_blocks(&n);

	ret->n = 0;
	for (size_t i = 0; i < n && !cidr_is_host(range); i++) {
		struct cidr host = cidr_of_block(&blocks[i]);
		if (blocks[i].class == SPECIAL_METADATA && cidr_contains(range, &host) &&
			!covered(&host, allow, true) && !covered(&host, deny, false))
			insert(ret, &blocks[i]);
	}
}

void metadata_within(const struct cidr *range, struct metadata_services *ret)
{
	metadata_find(range, (struct cidr_list){NULL, 0}, (struct cidr_list){NULL, 0}, ret);
}

void metadata_list(const struct metadata_services *s, struct str *out)
{
	char address[INET6_ADDRSTRLEN];

	for (size_t i = 0; i < s->n; i++) {
		address_text(&s->v[i]->address, address);
		str_addf(out, "%s%s", i > 0 ? ", " : "", address);
	}
}

static void add_hosts(const struct metadata_services *s, struct str *out)
{
	char text[CIDR_TEXT_SIZE];

	for (size_t i = 0; i < s->n; i++) {
		struct cidr host = cidr_of_block(s->v[i]);
		cidr_text(&host, text);
		str_addf(out, "%s%s", i > 0 ? ", " : "", text);
	}
}

int metadata_refuse(
	const struct cidr *range, const struct metadata_services *found, struct error *err)
{
	AUTO(str) list = STR_INIT(METADATA_MAX * CIDR_TEXT_SIZE);
	AUTO(str) hosts = STR_INIT(METADATA_MAX * CIDR_TEXT_SIZE);
	char text[CIDR_TEXT_SIZE];

	cidr_text(range, text);
	metadata_list(found, &list);
	add_hosts(found, &hosts);
	if (found->n == 1)
		error_set(err, ERROR_EGRESS_CIDR_METADATA,
			"%s contains the cloud metadata service at %s (%s)", text, str_text(&list),
			found->v[0]->service);
	else
		error_set(err, ERROR_EGRESS_CIDR_METADATA,
			"%s contains %zu cloud metadata services: %s", text, found->n,
			str_text(&list));
	return error_set_remedy(err,
		"to open them, add to the allow list: %s; to keep them closed, add the same to the "
		"deny list, or allow a narrower range",
		str_text(&hosts));
}
