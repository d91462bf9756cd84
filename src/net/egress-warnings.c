#include "base/mem.h"
#include "net/egress-rules.h"

enum { NAMES_MAX = 512 };

struct warner {
	const struct egress_lists *lists;
	struct egress_policy *policy;
};

static void warn(struct warner *w, enum egress_warning_code code, const char *fmt, ...)
	printf_like(3, 4);
static void warn(struct warner *w, enum egress_warning_code code, const char *fmt, ...)
{
	struct egress_policy *p = w->policy;
	va_list ap;

	va_start(ap, fmt);
	p->warnings = mem_grow(p->warnings, p->n_warnings + 1, sizeof(*p->warnings));
	p->warnings[p->n_warnings++] = (struct egress_warning){code, mem_vprintf(fmt, ap)};
	va_end(ap);
}

static void add_ports(const struct egress_policy *p, struct str *out)
{
	if (p->n_ports == 0)
		str_add_text(out, "every port");
	else
		str_add_text(out, p->n_ports == 1 ? "port " : "ports ");
	for (size_t i = 0; i < p->n_ports; i++)
		str_addf(out, "%s%u", i > 0 ? ", " : "", (unsigned)p->ports[i]);
}

/* The first patterns, then a count. */
static void add_hosts(const struct strv *hosts, struct str *out)
{
	for (size_t i = 0; i < hosts->n; i++) {
		if (out->len + strlen(hosts->v[i]) > NAMES_MAX / 2) {
			str_addf(out, " and %zu more", hosts->n - i);
			return;
		}
		str_addf(out, "%s%s", i > 0 ? ", " : "", hosts->v[i]);
	}
}

static void warn_public(struct warner *w, bool public_internet)
{
	AUTO(str) ports = STR_INIT(NAMES_MAX);
	AUTO(str) hosts = STR_INIT(NAMES_MAX);

	add_ports(w->policy, &ports);
	add_hosts(&w->lists->hosts, &hosts);
	if (w->policy->mode == EGRESS_FILTERED && w->lists->hosts.n > 0)
		warn(w, EGRESS_HOST_PATTERNS_NOT_ENFORCED,
			"packets carry no host names: %s cannot be told from other hosts, every "
			"allowed address is open on %s",
			str_text(&hosts), str_text(&ports));
	else if (public_internet)
		warn(w, EGRESS_PUBLIC_INTERNET, "the whole public Internet is open on %s",
			str_text(&ports));
}

static void warn_carved(struct warner *w)
{
	const struct egress_lists *l = w->lists;
	struct metadata_services found;
	char range[CIDR_TEXT_SIZE];

	for (size_t i = 0; i < l->n_allow; i++) {
		AUTO(str) list = STR_INIT(METADATA_MAX * CIDR_TEXT_SIZE);
		egress_lists_services(l, &l->allow[i], &found);
		if (found.n == 0)
			continue;
		cidr_text(&l->allow[i], range);
		metadata_list(&found, &list);
		warn(w, EGRESS_METADATA_CARVED,
			"%s leaves cloud metadata services closed: %s; to open one, allow it as a "
			"range of its own, with /32 or /128",
			range, str_text(&list));
	}
}

static void warn_translations(struct warner *w)
{
	size_t n;
	const struct special_block *rows = special_address_translations(&n);
	char range[CIDR_TEXT_SIZE], form[CIDR_TEXT_SIZE];

	for (size_t i = 0; i < w->lists->n_allow; i++) {
		const struct cidr *c = &w->lists->allow[i];
		for (size_t j = 0; j < n && !cidr_is_loopback_host(c); j++) {
			struct cidr prefix = cidr_of_block(&rows[j]);
			if (!cidr_overlaps(c, &prefix))
				continue;
			cidr_text(c, range);
			cidr_text(&prefix, form);
			warn(w, EGRESS_TRANSLATION_DROPPED,
				"of %s, %s stays closed: such addresses carry an IPv4 address past "
				"the filter",
				range, form);
		}
	}
}

static void warn_loopback(struct warner *w)
{
	char range[CIDR_TEXT_SIZE];

	for (size_t i = 0; i < w->lists->n_allow; i++) {
		if (!cidr_is_loopback_host(&w->lists->allow[i]))
			continue;
		cidr_text(&w->lists->allow[i], range);
		warn(w, EGRESS_LOOPBACK_NO_EFFECT,
			"%s opens nothing: inside a sandbox it is the sandbox itself", range);
	}
}

static void warn_shadowed(struct warner *w, const struct cidr *c, const char *what)
{
	const struct egress_lists *l = w->lists;
	char range[CIDR_TEXT_SIZE], denied[CIDR_TEXT_SIZE];

	for (size_t i = 0; i < l->n_deny; i++) {
		if (!cidr_contains(&l->deny[i], c))
			continue;
		cidr_text(c, range);
		cidr_text(&l->deny[i], denied);
		warn(w, EGRESS_SHADOWED, "the %s %s stays closed: %s is denied", what, range,
			denied);
		return;
	}
}

static void warn_all_shadowed(struct warner *w)
{
	const struct egress_lists *l = w->lists;

	for (size_t i = 0; i < l->n_allow; i++)
		warn_shadowed(w, &l->allow[i], "range");
	for (size_t i = 0; i < l->n_gates; i++) {
		struct cidr host = cidr_host(&l->gates[i].at.address);
		warn_shadowed(w, &host, l->gates[i].proxy ? "proxy" : "broker");
	}
	for (size_t i = 0; i < l->n_resolvers; i++) {
		struct cidr host = cidr_host(&l->resolvers[i].address);
		warn_shadowed(w, &host, "resolver");
	}
}

void egress_warnings_build(
	const struct egress_lists *l, bool public_internet, struct egress_policy *p)
{
	struct warner w = {l, p};

	warn_public(&w, public_internet);
	warn_carved(&w);
	warn_translations(&w);
	if (p->mode == EGRESS_ISOLATED)
		warn(&w, EGRESS_WARN_ISOLATED, "nothing outside the sandbox can be reached");
	if (public_internet && l->n_resolvers == 0)
		warn(&w, EGRESS_NO_RESOLVER, "without a resolver no name will resolve");
	warn_loopback(&w);
	warn_all_shadowed(&w);
}
