#include "executor/container/driver/egress-address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <string.h>
#include <sys/socket.h>

#include "base/json.h"
#include "base/mem.h"
#include "executor/container/driver/client.h"
#include "executor/container/network/network-line.h"

enum { INSPECT_MS = 30000, ANY_PORT = 9 };

/* Any public address: nothing is sent, the kernel only says where it would be sent from. */
#define FAR "198.41.0.4"

static int no_route(const struct container_driver *driver, const char *why, struct error *err)
{
	error_set(err, ERROR_SANDBOX_EGRESS_UNAVAILABLE,
		"there is no route to the egress proxy from network %s: %s",
		quoted_string(driver->options.network), why);
	return error_set_remedy(err,
		"let the operator set executors.container.network to a bridge that has a gateway "
		"on this host, or remove capabilities.network");
}

static int find_default(const struct container_driver *driver, char **ret, struct error *err)
{
	struct sockaddr_in far = {.sin_family = AF_INET, .sin_port = htons(ANY_PORT)}, own;
	socklen_t len = sizeof(own);
	char text[INET_ADDRSTRLEN];

	auto_fd int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	inet_pton(AF_INET, FAR, &far.sin_addr);
	if (fd < 0 || connect(fd, (struct sockaddr *)&far, sizeof(far)) < 0 ||
		getsockname(fd, (struct sockaddr *)&own, &len) < 0 ||
		!inet_ntop(AF_INET, &own.sin_addr, text, sizeof(text)))
		return no_route(driver, "this host has no default route", err);
	*ret = mem_strdup(text);
	return 0;
}

/* The gateway is an address of this host: of a macvlan it is a router's. */
static bool host_has_it(enum engine_network_kind kind, const json_t *network)
{
	return text_is(json_get_text(network, kind == ENGINE_NETWORK_PODMAN ? "driver" : "Driver"),
		"bridge");
}

/* docker does not tell the gateway that it chose itself: what its bridge has. NULL: nothing. */
static char *address_of_bridge(const json_t *network, const struct engine_network *n)
{
	const char *named = json_get_string(
		json_object_get(network, "Options"), "com.docker.network.bridge.name");
	const char *bridge = named ? named : n->bridge;
	struct ifaddrs *all = NULL;
	char text[INET_ADDRSTRLEN];
	char *found = NULL;

	if (getifaddrs(&all) < 0)
		return NULL;
	for (const struct ifaddrs *i = all; i && !found; i = i->ifa_next) {
		if (strcmp(i->ifa_name, bridge) != 0 || !i->ifa_addr ||
			i->ifa_addr->sa_family != AF_INET)
			continue;
		const struct sockaddr_in *own = (const void *)i->ifa_addr;
		if (inet_ntop(AF_INET, &own->sin_addr, text, sizeof(text)))
			found = mem_strdup(text);
	}
	freeifaddrs(all);
	return found;
}

static int read_gateway(const struct container_driver *driver, const struct captured *out,
	char **ret, struct error *err)
{
	enum engine_network_kind kind = network_line_kind(driver->runtime.engine);
	struct engine_network network = {.gateway = NULL};
	auto_json *document =
		engine_network_parse((struct text){str_text(&out->out), out->out.len}, err);

	if (!document)
		return -1;
	if (!host_has_it(kind, document))
		return no_route(driver, "it is no bridge of this host", err);
	if (engine_network_read(kind, document, &network, err) < 0)
		return -1;
	*ret = network.gateway ? mem_strdup(network.gateway)
			       : address_of_bridge(document, &network);
	engine_network_done(&network);
	return *ret ? 0 : no_route(driver, "it has no gateway on this host", err);
}

/* The engine answered, and does not show the network. */
static int not_shown(const struct container_driver *driver, const struct client_call *call,
	const struct captured *answer, struct error *err)
{
	(void)client_explain(call, answer, "", err);
	if (error_is(err, ERROR_ENGINE_UNREACHABLE))
		return -1;
	auto_free char *why = mem_strdup(err->message);
	error_clear(err);
	return no_route(driver, why, err);
}

static int find_gateway(const struct container_driver *driver, const struct strv *env, char **ret,
	struct error *err)
{
	/* What podman means by the word. */
	bool usual = driver->runtime.engine == ENGINE_PODMAN &&
		     strcmp(driver->options.network, "bridge") == 0;
	const char *name = usual ? "podman" : driver->options.network;
	AUTO(strv) words = STRV_INIT(NETWORK_LINE_WORDS_MAX);
	AUTO(captured) out = {.status = 0};

	network_line_inspect(name, &words);
	struct client_call call = {.runtime = &driver->runtime,
		.env = env,
		.args = (const char *const *)words.v,
		.timeout_ms = INSPECT_MS,
		.stdout_max = ENGINE_NETWORK_PRINTED_MAX,
		.cancel_fd = -1};
	int r = client_run(&call, &out, err);

	if (r < 0)
		return -1;
	return r == 1 ? not_shown(driver, &call, &out, err) : read_gateway(driver, &out, ret, err);
}

int egress_address_find(const struct container_driver *driver, const struct strv *env, char **ret,
	struct error *err)
{
	return driver->runtime.rootless ? find_default(driver, ret, err)
					: find_gateway(driver, env, ret, err);
}
