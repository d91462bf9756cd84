#include "executor/container/supervise/network-port.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <string.h>

#include "base/mem.h"
#include "executor/container/network/bridge-port.h"
#include "executor/container/supervise/supervisor.h"
#include "sys/fault.h"

/* *ret 0: the sandbox has none. */
static int find(struct supervisor *s, unsigned *ret, struct error *err)
{
	auto_free char *path = mem_printf("/proc/%d/ns/net", (int)s->init_pid);
	auto_fd int ns = open(path, O_RDONLY | O_CLOEXEC);

	*ret = 0;
	if (ns < 0)
		return error_set(err, ERROR_IO, "the sandbox's network namespace is not there");
	return bridge_port_find(s->network.made.bridge, ns, ret, err);
}

int network_port_cut(struct supervisor *s, struct error *err)
{
	unsigned port;

	if (fault_hit("guard:port"))
		return error_set(err, ERROR_IO, "fault injected at guard:port");
	if (find(s, &port, err) < 0)
		return -1;
	return port ? bridge_port_delete(port, err) : 0;
}

int network_port_isolate(struct supervisor *s, struct error *err)
{
	unsigned port;

	if (find(s, &port, err) < 0)
		return -1;
	if (!port)
		return error_set(err, ERROR_IO, "the sandbox has no port of bridge %s",
			s->network.made.bridge);
	return bridge_port_isolate(port, err);
}

static bool is_address(const struct ifaddrs *a, const char *interface, struct in_addr wanted)
{
	struct sockaddr_in in;

	if (!a->ifa_addr || a->ifa_addr->sa_family != AF_INET ||
		strcmp(a->ifa_name, interface) != 0)
		return false;
	memcpy(&in, a->ifa_addr, sizeof(in));
	return in.sin_addr.s_addr == wanted.s_addr;
}

/* Anybody may look; only root may add. */
static bool has_address(const char *interface, const char *address)
{
	struct ifaddrs *list;
	struct in_addr wanted;
	bool found = false;

	if (inet_pton(AF_INET, address, &wanted) != 1 || getifaddrs(&list) < 0)
		return false;
	for (const struct ifaddrs *a = list; a && !found; a = a->ifa_next)
		found = is_address(a, interface, wanted);
	freeifaddrs(list);
	return found;
}

int network_port_address(struct supervisor *s, struct error *err)
{
	const struct engine_network *n = &s->network.made;

	if (has_address(n->bridge, n->gateway))
		return 0;
	return bridge_port_address(
		n->bridge, n->gateway, n->bits ? n->bits : s->network.choice.bits, err);
}
