#include "net/subnet-choice.h"

#include "net/subnet-pool.h"

enum { SUBNET6_BITS = 64, SUBNETS6 = 1 << 16 };

static int read_pool(const char *text, const char *otherwise, struct cidr *ret, struct error *err)
{
	if (cidr_parse(text_of(text ? text : otherwise), ret, err) == 0)
		return 0;
	return error_set(err, ERROR_EGRESS_POOL_INVALID, "%s is no pool of subnets",
		quoted_string(text ? text : otherwise));
}

int subnet_choice_begin(const struct subnet_pools *pools, unsigned bits, uint32_t seed,
	struct subnet_choice *ret, struct error *err)
{
	struct subnet_choice c = {.ipv6 = pools->ipv6};

	if (read_pool(pools->pool, SUBNET_POOL_DEFAULT, &c.pool, err) < 0 ||
		read_pool(pools->pool6, SUBNET_POOL6_DEFAULT, &c.pool6, err) < 0)
		return -1;
	c.bits = bits < c.pool.bits ? c.pool.bits : bits;
	c.count = (uint32_t)1 << (c.bits - c.pool.bits);
	c.next = seed % c.count;
	*ret = c;
	return 0;
}

/* Adds n at the byte `last`, carrying upwards. */
static void add(struct address *a, size_t last, uint32_t n)
{
	for (size_t i = last + 1; i-- > 0 && n > 0; n >>= 8) {
		n += a->bytes[i];
		a->bytes[i] = (unsigned char)n;
	}
}

static struct subnet subnet_at(const struct subnet_choice *c, uint32_t index)
{
	struct subnet s = {.range = {c->pool.address, c->bits},
		.ipv6 = c->ipv6,
		.range6 = {c->pool6.address, SUBNET6_BITS}};

	add(&s.range.address, 3, index << (32 - c->bits));
	s.gateway = s.range.address;
	add(&s.gateway, 3, 1);
	add(&s.range6.address, SUBNET6_BITS / 8 - 1, index % SUBNETS6);
	s.gateway6 = s.range6.address;
	add(&s.gateway6, 15, 1);
	return s;
}

static bool overlaps(const struct subnet *s, struct cidr_list taken)
{
	for (size_t i = 0; i < taken.n; i++) {
		const struct cidr *t = &taken.v[i];
		if (t->bits == 0)
			continue;
		if (cidr_overlaps(&s->range, t) || (s->ipv6 && cidr_overlaps(&s->range6, t)))
			return true;
	}
	return false;
}

bool subnet_choice_next(struct subnet_choice *c, struct cidr_list taken, struct subnet *ret)
{
	while (c->tried < SUBNET_TRIES_MAX && c->tried < c->count) {
		*ret = subnet_at(c, c->next);
		c->tried++;
		c->next = (c->next + 1) % c->count;
		if (!overlaps(ret, taken))
			return true;
	}
	return false;
}
