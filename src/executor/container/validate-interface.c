/* Granted network interfaces (container-driver.md §5.12). */
#include "executor/container/validate.h"

#include "base/num.h"
#include "executor/container/address.h"

enum {
	INTERFACES_MAX = 8,
	NAME_BYTES_MAX = 64,
	IFNAME_MAX = 15,
	MTU_LEAST = 68,
	MTU_LARGEST = 65536,
};

static bool name_valid(struct text t)
{
	return t.len >= 1 && t.len <= NAME_BYTES_MAX && ascii_alnum(t.p[0]) &&
	       text_all_word(t, "._-");
}

/* A name that the kernel takes and that is one word everywhere. */
static bool ifname_valid(struct text t)
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

static bool source_forbidden(struct text t)
{
	return text_is(t, "lo") || text_is(t, "docker0") || text_is(t, "cni-podman0") ||
	       podman_bridge(t) || text_starts(t, "br-") || text_starts(t, "virbr");
}

/* ADDRESS/BITS of one host in its network. */
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

static bool host_address(const struct address *a, unsigned bits)
{
	if (address_unspecified(a) || address_multicast(a) || address_loopback(a))
		return false;
	if (address_bits(a) - bits < 2)
		return true;
	return !address_host_part_is(a, bits, false) &&
	       (a->family != AF_INET || !address_host_part_is(a, bits, true));
}

static int check_addresses(const struct request_interface *i, struct error *err)
{
	struct address address = {0}, gateway;
	unsigned bits = 0;

	if (i->address.len &&
		(!parse_cidr(i->address, &address, &bits) || !host_address(&address, bits)))
		return error_set(err, ERROR_INTERFACE_ADDRESS_INVALID,
			"interface %s: address %s is not ADDRESS/BITS of one host", quoted(i->name),
			quoted(i->address));
	if (i->gateway.len &&
		(!i->address.len || !address_parse(i->gateway, &gateway) ||
			!address_same_network(&address, &gateway, bits) ||
			address_same_network(&address, &gateway, address_bits(&address))))
		return error_set(err, ERROR_INTERFACE_GATEWAY_INVALID,
			"interface %s: gateway %s is not another host of its network",
			quoted(i->name), quoted(i->gateway));
	return 0;
}

static struct text target_of(const struct request_interface *i)
{
	return i->target.len ? i->target : i->source;
}

static int check_names(const struct request_interface *i, struct error *err)
{
	struct text target = target_of(i);

	if (!name_valid(i->name))
		return error_set(err, ERROR_INTERFACE_NAME_INVALID,
			"%s is not the name of an interface grant", quoted(i->name));
	if (!ifname_valid(i->source))
		return error_set(err, ERROR_INTERFACE_SOURCE_INVALID,
			"interface %s: source %s is not an interface name", quoted(i->name),
			quoted(i->source));
	if (!ifname_valid(target))
		return error_set(err, ERROR_INTERFACE_TARGET_INVALID,
			"interface %s: target %s is not an interface name", quoted(i->name),
			quoted(target));
	if (source_forbidden(i->source) || text_is(target, "lo"))
		return error_set(err, ERROR_INTERFACE_FORBIDDEN, "interface %s: %s is never given",
			quoted(i->name), quoted(source_forbidden(i->source) ? i->source : target));
	return 0;
}

int validate_interface(const struct request_interface *i, struct error *err)
{
	if (check_names(i, err) < 0 || check_addresses(i, err) < 0)
		return -1;
	if (i->mtu != 0 && (i->mtu < MTU_LEAST || i->mtu > MTU_LARGEST))
		return error_set(err, ERROR_INTERFACE_MTU_INVALID, "interface %s: MTU %lld",
			quoted(i->name), (long long)i->mtu);
	return 0;
}

static bool collide(const struct request_interface *a, const struct request_interface *b)
{
	return text_equal(a->name, b->name) || text_equal(a->source, b->source) ||
	       text_equal(target_of(a), target_of(b));
}

int validate_interfaces(const struct request_interface *i, size_t n, struct error *err)
{
	if (n > INTERFACES_MAX)
		return error_set(err, ERROR_INTERFACES_TOO_MANY,
			"there are more than %d interfaces", INTERFACES_MAX);
	for (size_t k = 0; k < n; k++) {
		if (validate_interface(&i[k], err) < 0)
			return -1;
		for (size_t j = 0; j < k; j++)
			if (collide(&i[j], &i[k]))
				return error_set(err, ERROR_INTERFACE_DUPLICATE,
					"interface %s has a name, source or target twice",
					quoted(i[k].name));
	}
	return 0;
}
