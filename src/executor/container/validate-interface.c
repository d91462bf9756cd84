/* Granted network interfaces (container-driver.md §5.12). */
#include "executor/container/validate.h"

#include "vault/grant-constraint.h"
#include "vault/interface-payload.h"

enum { INTERFACES_MAX = 8, MTU_LEAST = 68, MTU_LARGEST = 65536 };

static int check_addresses(const struct request_interface *i, struct error *err)
{
	if (i->address.len && !interface_payload_address(i->address))
		return error_set(err, ERROR_INTERFACE_ADDRESS_INVALID,
			"interface %s: address %s is not ADDRESS/BITS of one host", quoted(i->name),
			quoted(i->address));
	if (i->gateway.len && !interface_payload_gateway(i->address, i->gateway))
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

	if (!grant_constraints_item_name(i->name))
		return error_set(err, ERROR_INTERFACE_NAME_INVALID,
			"%s is not the name of an interface grant", quoted(i->name));
	if (!interface_payload_ifname(i->source))
		return error_set(err, ERROR_INTERFACE_SOURCE_INVALID,
			"interface %s: source %s is not an interface name", quoted(i->name),
			quoted(i->source));
	if (!interface_payload_ifname(target))
		return error_set(err, ERROR_INTERFACE_TARGET_INVALID,
			"interface %s: target %s is not an interface name", quoted(i->name),
			quoted(target));
	bool source = interface_payload_forbidden(i->source);
	if (source || text_is(target, "lo"))
		return error_set(err, ERROR_INTERFACE_FORBIDDEN, "interface %s: %s is never given",
			quoted(i->name), quoted(source ? i->source : target));
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
