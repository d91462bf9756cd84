#include "net/egress-lists.h"

#include "base/mem.h"
#include "net/host-pattern.h"

void egress_lists_done(struct egress_lists *l)
{
	free(l->allow);
	free(l->deny);
	free(l->gates);
	strv_done(&l->hosts);
}

static int at_key(struct error *err, const char *key)
{
	return error_add_detail(err, "key", json_string(key));
}

static int at_item(struct error *err, const char *key, size_t i)
{
	auto_free char *item = mem_printf("%s[%zu]", key, i);

	at_key(err, item);
	return -1;
}

/* ---- 1: counts ---- */

static int check_counts(const struct egress_filter *f, struct error *err)
{
	const struct {
		const char *key;
		const struct strv *list;
		size_t max;
	} rows[] = {
		{"allow_cidrs", &f->allow_cidrs, EGRESS_FILTER_CIDRS_MAX},
		{"deny_cidrs", &f->deny_cidrs, EGRESS_FILTER_CIDRS_MAX},
		{"allow_ports", &f->allow_ports, EGRESS_FILTER_PORTS_MAX},
		{"resolvers", &f->resolvers, EGRESS_FILTER_RESOLVERS_MAX},
		{"host_patterns", &f->host_patterns, EGRESS_FILTER_HOSTS_MAX},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i].list->n <= rows[i].max)
			continue;
		error_set(err, ERROR_EGRESS_TOO_MANY, "%s has %zu entries, more than %zu",
			rows[i].key, rows[i].list->n, rows[i].max);
		at_key(err, rows[i].key);
		return -1;
	}
	return 0;
}

/* ---- 2, 3: ranges ---- */

/* Never destinations outside the sandbox. */
static const struct cidr reserved[] = {
	{{AF_INET, {127}}, 8},
	{{AF_INET, {0}}, 8},
	{{AF_INET, {224}}, 4},
	{{AF_INET6, {0}}, 128},
	{{AF_INET6, {[15] = 1}}, 128},
	{{AF_INET6, {0xff}}, 8},
};

int egress_lists_read_cidr(struct text t, struct cidr *ret, struct error *err)
{
	struct cidr c;
	char other[CIDR_TEXT_SIZE];

	if (cidr_parse(t, &c, err) < 0)
		return -1;
	if (c.bits == 0)
		return error_set(err, ERROR_EGRESS_CIDR_EVERYTHING, "%s is everything", quoted(t));
	for (size_t i = 0; i < ARRAY_SIZE(reserved) && !cidr_is_loopback_host(&c); i++) {
		if (!cidr_overlaps(&c, &reserved[i]))
			continue;
		cidr_text(&reserved[i], other);
		return error_set(err, ERROR_EGRESS_CIDR_RESERVED,
			"%s overlaps %s, which is no destination", quoted(t), other);
	}
	*ret = c;
	return 0;
}

static int read_allow(const struct strv *list, struct egress_lists *ret, struct error *err)
{
	ret->allow = mem_alloc((list->n + 1) * sizeof(*ret->allow));
	for (size_t i = 0; i < list->n; i++)
		if (egress_lists_read_cidr(text_of(list->v[i]), &ret->allow[i], err) < 0)
			return at_item(err, "allow_cidrs", i);
	ret->n_allow = cidr_normalize(ret->allow, list->n);
	return 0;
}

static int read_deny(const struct strv *list, struct egress_lists *ret, struct error *err)
{
	ret->deny = mem_alloc((list->n + 1) * sizeof(*ret->deny));
	for (size_t i = 0; i < list->n; i++)
		if (cidr_parse(text_of(list->v[i]), &ret->deny[i], err) < 0)
			return at_item(err, "deny_cidrs", i);
	ret->n_deny = cidr_normalize(ret->deny, list->n);
	return 0;
}

/* ---- 4: ports ---- */

int egress_lists_read_port(struct text t, uint16_t *ret, struct error *err)
{
	if (endpoint_port(t, ret))
		return 0;
	return error_set(err, ERROR_EGRESS_PORT_INVALID, "%s is no port", quoted(t));
}

static int compare_ports(const void *a, const void *b)
{
	return (int)*(const uint16_t *)a - (int)*(const uint16_t *)b;
}

size_t egress_lists_sort_ports(uint16_t *ports, size_t n)
{
	size_t kept = 0;

	if (n > 0)
		qsort(ports, n, sizeof(*ports), compare_ports);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || ports[kept - 1] != ports[i])
			ports[kept++] = ports[i];
	return kept;
}

static int read_ports(const struct strv *list, struct egress_lists *ret, struct error *err)
{
	for (size_t i = 0; i < list->n; i++)
		if (egress_lists_read_port(text_of(list->v[i]), &ret->ports[i], err) < 0)
			return at_item(err, "allow_ports", i);
	ret->n_ports = egress_lists_sort_ports(ret->ports, list->n);
	return 0;
}

/* ---- 5, 6: endpoints ---- */

static int compare_gates(const void *a, const void *b)
{
	const struct egress_gate *x = a, *y = b;
	int order = endpoint_compare(&x->at, &y->at);

	return order != 0 ? order : (int)x->proxy - (int)y->proxy;
}

static int read_gates(const struct egress_filter *f, struct egress_lists *ret, struct error *err)
{
	size_t n = 0, kept = 0;

	ret->gates = mem_alloc((f->proxies.n + 2) * sizeof(*ret->gates));
	if (egress_filter_has_broker(f)) {
		if (endpoint_parse(ENDPOINT_BROKER, text_of(f->broker), &ret->gates[n++].at, err) <
			0) {
			at_key(err, "broker");
			return -1;
		}
	}
	for (size_t i = 0; i < f->proxies.n; i++) {
		struct egress_gate *gate = &ret->gates[n++];
		gate->proxy = true;
		if (endpoint_parse(ENDPOINT_BROKER, text_of(f->proxies.v[i]), &gate->at, err) < 0)
			return at_item(err, "proxies", i);
	}
	qsort(ret->gates, n, sizeof(*ret->gates), compare_gates);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || endpoint_compare(&ret->gates[kept - 1].at, &ret->gates[i].at) != 0)
			ret->gates[kept++] = ret->gates[i];
	ret->n_gates = kept;
	return 0;
}

static int read_resolvers(const struct strv *list, struct egress_lists *ret, struct error *err)
{
	for (size_t i = 0; i < list->n; i++)
		if (endpoint_parse(
			    ENDPOINT_RESOLVER, text_of(list->v[i]), &ret->resolvers[i], err) < 0)
			return at_item(err, "resolvers", i);
	ret->n_resolvers = endpoint_normalize(ret->resolvers, list->n);
	return 0;
}

/* ---- 7: names ---- */

static int read_hosts(const struct strv *list, struct egress_lists *ret, struct error *err)
{
	char folded[HOST_PATTERN_SIZE];

	ret->hosts = STRV_INIT(EGRESS_FILTER_HOSTS_MAX);
	for (size_t i = 0; i < list->n; i++) {
		if (host_pattern_parse(text_of(list->v[i]), folded, err) < 0)
			return at_item(err, "host_patterns", i);
		if (!strv_has(&ret->hosts, folded) && strv_add(&ret->hosts, folded) < 0)
			return error_set(err, ERROR_EGRESS_TOO_MANY, "too many host patterns");
	}
	strv_sort(&ret->hosts);
	return 0;
}

/* ---- 8: metadata; 9-11: what contradicts ---- */

void egress_lists_services(
	const struct egress_lists *l, const struct cidr *range, struct metadata_services *ret)
{
	metadata_find(range, (struct cidr_list){l->allow, l->n_allow},
		(struct cidr_list){l->deny, l->n_deny}, ret);
}

static int check_metadata(
	const struct strv *written, const struct egress_lists *l, struct error *err)
{
	struct metadata_services found;

	for (size_t i = 0; i < written->n; i++) {
		struct cidr c;
		if (cidr_parse(text_of(written->v[i]), &c, err) < 0)
			return at_item(err, "allow_cidrs", i);
		egress_lists_services(l, &c, &found);
		if (found.n > 0) {
			metadata_refuse(&c, &found, err);
			return at_item(err, "allow_cidrs", i);
		}
	}
	return 0;
}

static int contradiction(
	struct error *err, enum error_code code, const char *key, const char *message)
{
	error_set(err, code, "%s", message);
	at_key(err, key);
	return -1;
}

static int check_whole(
	const struct egress_filter *f, const struct egress_lists *l, struct error *err)
{
	bool destinations = l->n_allow > 0 || f->allow_public_internet;

	if (f->internal && destinations)
		return contradiction(err, ERROR_EGRESS_INTERNAL_CONFLICT, "internal",
			"an internal network has no route to the destinations that are allowed");
	if (f->allow_all_ports && l->n_ports > 0)
		return contradiction(err, ERROR_EGRESS_PORTS_CONFLICT, "allow_ports",
			"all ports are allowed, and some are listed");
	if (destinations && l->n_ports == 0 && !f->allow_all_ports)
		return contradiction(err, ERROR_EGRESS_PORTS_MISSING, "allow_ports",
			"destinations are allowed, but no ports of them");
	return 0;
}

int egress_lists_read(
	const struct egress_filter *f, bool metadata, struct egress_lists *ret, struct error *err)
{
	*ret = (struct egress_lists){.n_allow = 0};
	if (check_counts(f, err) < 0 || read_allow(&f->allow_cidrs, ret, err) < 0 ||
		read_deny(&f->deny_cidrs, ret, err) < 0 ||
		read_ports(&f->allow_ports, ret, err) < 0 || read_gates(f, ret, err) < 0 ||
		read_resolvers(&f->resolvers, ret, err) < 0 ||
		read_hosts(&f->host_patterns, ret, err) < 0)
		return -1;
	if (metadata && check_metadata(&f->allow_cidrs, ret, err) < 0)
		return -1;
	return check_whole(f, ret, err);
}
