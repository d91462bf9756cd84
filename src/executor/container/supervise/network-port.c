#include "executor/container/supervise/network-port.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <string.h>

#include "base/mem.h"
#include "executor/container/supervise/ip-call.h"
#include "executor/container/supervise/supervisor.h"

enum { WORDS_MAX = 12 };

static bool has_peer(const struct ip_links *inside, unsigned index)
{
	for (size_t i = 0; i < inside->n; i++)
		if (inside->v[i].peer == index)
			return true;
	return false;
}

/* Name of the port; "" = the sandbox has none. */
static int find(struct supervisor *s, char ret[IF_NAMESIZE], struct error *err)
{
	AUTO(ip_links) here = {.v = NULL};
	AUTO(ip_links) inside = {.v = NULL};
	auto_free char *path = mem_printf("/proc/%d/ns/net", (int)s->init_pid);
	auto_fd int ns = open(path, O_RDONLY | O_CLOEXEC);

	ret[0] = '\0';
	if (ns < 0)
		return error_set(err, ERROR_IO, "the sandbox's network namespace is not there");
	if (ip_call_links(ns, &inside, err) < 0 || ip_call_links(-1, &here, err) < 0)
		return -1;
	for (size_t i = 0; i < here.n; i++)
		if (strcmp(here.v[i].master, s->network.made.bridge) == 0 &&
			has_peer(&inside, here.v[i].index))
			memcpy(ret, here.v[i].name, IF_NAMESIZE);
	return 0;
}

int network_port_cut(struct supervisor *s, struct error *err)
{
	char name[IF_NAMESIZE];
	AUTO(ip_step) step = {.words = STRV_INIT(WORDS_MAX)};

	if (find(s, name, err) < 0)
		return -1;
	if (!name[0])
		return 0;
	STRV_ADD(&step.words, "link", "delete", "dev", name);
	if (ip_call_step(-1, &step, err) == 0)
		return 0;
	/* The engine may have been faster. */
	auto_error struct error why = ERROR_INIT;
	if (find(s, name, &why) < 0 || name[0])
		return -1;
	error_clear(err);
	return 0;
}

int network_port_isolate(struct supervisor *s, struct error *err)
{
	char name[IF_NAMESIZE];
	AUTO(ip_step) step = {.words = STRV_INIT(WORDS_MAX)};

	if (find(s, name, err) < 0)
		return -1;
	if (!name[0])
		return error_set(err, ERROR_IO, "the sandbox has no port of bridge %s",
			s->network.made.bridge);
	STRV_ADD(&step.words, "link", "set", "dev", name, "type", "bridge_slave", "isolated", "on");
	return ip_call_step(-1, &step, err);
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
	AUTO(ip_step) step = {.words = STRV_INIT(WORDS_MAX)};

	if (has_address(n->bridge, n->gateway))
		return 0;
	STRV_ADD(&step.words, "address", "replace");
	strv_addf(&step.words, "%s/%u", n->gateway, n->bits ? n->bits : s->network.choice.bits);
	STRV_ADD(&step.words, "dev", n->bridge);
	return ip_call_step(-1, &step, err);
}
