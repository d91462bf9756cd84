#include "executor/container/supervise/network-port.h"

#include <fcntl.h>
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

static void add_words(struct strv *ret, const char *const *words)
{
	for (; *words; words++)
		strv_add(ret, *words);
}

int network_port_cut(struct supervisor *s, struct error *err)
{
	char name[IF_NAMESIZE];
	AUTO(ip_step) step = {.words = STRV_INIT(WORDS_MAX)};

	if (find(s, name, err) < 0)
		return -1;
	if (!name[0])
		return 0;
	add_words(&step.words, (const char *const[]){"link", "delete", "dev", name, NULL});
	return ip_call_step(-1, &step, err);
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
	add_words(&step.words, (const char *const[]){"link", "set", "dev", name, "type",
				       "bridge_slave", "isolated", "on", NULL});
	return ip_call_step(-1, &step, err);
}

int network_port_address(struct supervisor *s, struct error *err)
{
	AUTO(ip_step) step = {.words = STRV_INIT(WORDS_MAX)};

	add_words(&step.words, (const char *const[]){"address", "replace", NULL});
	strv_addf(&step.words, "%s/%u", s->network.made.gateway, s->network.choice.bits);
	add_words(&step.words, (const char *const[]){"dev", s->network.made.bridge, NULL});
	return ip_call_step(-1, &step, err);
}
