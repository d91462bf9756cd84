/*
 * What `ip -j` says of interfaces and routes (container-driver.md §17.2). Pure; text of any bytes
 * is judged.
 */
#pragma once

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

enum { IP_MAC_SIZE = 64, IP_ANSWER_MAX = 4 << 20 };

struct ip_link {
	char name[IF_NAMESIZE];
	unsigned index;
	int64_t mtu;
	bool up;
	char mac[IP_MAC_SIZE];    /* "" = it has none */
	char master[IF_NAMESIZE]; /* "" = not enslaved */
	bool upper;               /* lies on another interface (a VLAN …) */
	unsigned peer;            /* index of a pair's other end, in its own namespace; 0 = none */
};
struct ip_links {
	struct ip_link *v;
	size_t n;
};
void ip_links_done(struct ip_links *l);

/* `ip -j link show`. -1: io, the answer is not of the form. */
must_check int ip_answer_links(struct text json, struct ip_links *ret, struct error *err);

/* How an interface is known again, whatever it is called now. */
struct ip_identity {
	unsigned index;
	const char *mac;
	const char *names[3]; /* that it may have; NULL-terminated unless full */
	bool exact;           /* a MAC alone does not do: a bridge may have that of its port */
};
/*
 * By index and MAC, else by one of its names and MAC, else, unless exact, by a MAC that only one
 * interface has; NULL: it is not among them.
 */
const struct ip_link *ip_answer_find(const struct ip_links *l, const struct ip_identity *who);

/*
 * `ip -j route show table all default`: 1 a default route uses the interface (*ret names it, the
 * caller's), 0 none does, -1 the answer is not of the form.
 */
must_check int ip_answer_default_route(
	struct text json, const char *interface, char **ret, struct error *err);
