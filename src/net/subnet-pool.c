#include "net/subnet-pool.h"

#include "net/cidr.h"

enum { POOL_BITS_MIN = 8, POOL_BITS_MAX = 28, POOL6_BITS = 48 };

/* It lies wholly inside a block of the class. */
static bool inside(const struct cidr *c, enum special_class class)
{
	size_t n;
	const struct special_block *blocks = special_address_blocks(&n);

	for (size_t i = 0; i < n; i++) {
		struct cidr block = cidr_of_block(&blocks[i]);
		if (blocks[i].class == class && cidr_contains(&block, c))
			return true;
	}
	return false;
}

static bool good(const struct cidr *c)
{
	if (c->address.family == AF_INET6)
		return c->bits == POOL6_BITS && inside(c, SPECIAL_PRIVATE);
	return c->bits >= POOL_BITS_MIN && c->bits <= POOL_BITS_MAX &&
	       (inside(c, SPECIAL_PRIVATE) || inside(c, SPECIAL_CGNAT));
}

static int check(const char *text, int family, const char *key, struct error *err)
{
	auto_error struct error syntax = ERROR_INIT;
	struct cidr c;

	if (!text)
		return 0;
	if (cidr_parse(text_of(text), &c, &syntax) == 0 && c.address.family == family && good(&c))
		return 0;
	error_set(err, ERROR_EGRESS_POOL_INVALID, "%s: %s is no pool of subnets", key,
		quoted_string(text));
	error_add_detail(err, "key", json_string(key));
	return -1;
}

int subnet_pool_check(const struct egress_filter *f, struct error *err)
{
	if (check(f->subnet_pool, AF_INET, "subnet_pool", err) < 0)
		return -1;
	return check(f->subnet_pool6, AF_INET6, "subnet_pool6", err);
}
