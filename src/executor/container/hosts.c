#include "executor/container/hosts.h"

enum { NAME_MAX_BYTES = 253, LABEL_MAX_BYTES = 63 };

static bool label_valid(struct text label)
{
	return label.len >= 1 && label.len <= LABEL_MAX_BYTES && label.p[0] != '-' &&
	       label.p[label.len - 1] != '-' && text_all_word(label, "_-");
}

bool hosts_name_valid(struct text t)
{
	struct text label;

	if (t.len == 0 || t.len > NAME_MAX_BYTES)
		return false;
	while (text_split(&t, '.', &label))
		if (!label_valid(label))
			return false;
	return true;
}

static bool has_blank_or_control(struct text t)
{
	return text_has_byte(t, ' ') || text_has_control(t);
}

static bool parse_address(struct text t, struct address *ret)
{
	bool bracketed = t.len >= 2 && t.p[0] == '[' && t.p[t.len - 1] == ']';

	if (bracketed)
		t = (struct text){t.p + 1, t.len - 2};
	return address_parse(t, ret) && (!bracketed || ret->family == AF_INET6);
}

int hosts_entry_parse(struct text t, struct hosts_entry *ret, struct error *err)
{
	struct text address = t;
	struct hosts_entry e = {0};

	bool split = text_split(&address, ':', &e.host) && address.p;
	if (!split || has_blank_or_control(t) || !hosts_name_valid(e.host) ||
		text_is_nocase(e.host, "localhost"))
		return error_set(err, ERROR_ADD_HOST_INVALID,
			"host entry %s is not HOST:ADDRESS with a plain host name", quoted(t));
	if (!parse_address(address, &e.address) || address_unspecified(&e.address) ||
		address_multicast(&e.address) || address_broadcast(&e.address))
		return error_set(err, ERROR_ADD_HOST_ADDRESS,
			"host entry %s has no address of one machine", quoted(t));
	*ret = e;
	return 0;
}

void hosts_file(
	struct str *out, struct text hostname, const struct text *add_hosts, size_t n_add_hosts)
{
	str_addf(out, "127.0.0.1\tlocalhost %.*s\n", (int)hostname.len, hostname.p);
	str_add_text(out, "::1\tlocalhost ip6-localhost ip6-loopback\n");
	for (size_t i = 0; i < n_add_hosts; i++) {
		auto_error struct error ignored = ERROR_INIT;
		struct hosts_entry e = {0};
		char address[INET6_ADDRSTRLEN];

		if (hosts_entry_parse(add_hosts[i], &e, &ignored) < 0)
			continue;
		address_text(&e.address, address);
		str_addf(out, "%s\t%.*s\n", address, (int)e.host.len, e.host.p);
	}
}
