#include "net/nft-script.h"

#define ESTABLISHED "\t\tct state established,related counter accept\n"
#define INVALID "\t\tct state invalid counter drop\n"
#define NEIGHBOURS(first) \
	"\t\ticmpv6 type { " first ", nd-neighbor-solicit, nd-neighbor-advert } ip6 hoplimit 255 " \
	"counter accept comment \"neighbour discovery\"\n"
/* A router advertisement or a redirect from a sandbox stays refused. */
#define NEIGHBOURS_OUT NEIGHBOURS("nd-router-solicit")
#define NEIGHBOURS_IN NEIGHBOURS("nd-router-advert")
#define REFUSE(reason) "\t\tcounter goto refuse comment \"" reason "\"\n"

/* ---- Names ---- */

static bool name_valid(struct text name, const char *inner, size_t max)
{
	if (name.len == 0 || name.len > max || !ascii_word(name.p[0], "_"))
		return false;
	return text_all_word(name, inner);
}

int nft_script_check_table(struct text name, struct error *err)
{
	if (name_valid(name, "_-", NFT_TABLE_NAME_MAX))
		return 0;
	return error_set(err, ERROR_NFT_NAME_INVALID, "%s is no name of a table", quoted(name));
}

int nft_script_check_bridge(struct text name, struct error *err)
{
	if (name_valid(name, "_.-", NFT_BRIDGE_NAME_MAX))
		return 0;
	return error_set(err, ERROR_NFT_NAME_INVALID, "%s is no name of a bridge", quoted(name));
}

/* ---- Comments ---- */

/* Length of what has to become a blank at t.p, or 0. */
static size_t unwanted(struct text t)
{
	uint32_t c;
	size_t n = utf8_next(t, &c);

	if (n == 0)
		return 1;
	if (c < 0x20 || (c >= 0x7f && c <= 0x9f))
		return n;
	return c < 0x80 && strchr("\"\\;{}# ", (int)c) ? n : 0;
}

void nft_script_comment(struct text t, char out[NFT_COMMENT_MAX + 1])
{
	AUTO(str) clean = STR_INIT(t.len);
	bool blank = false;

	while (t.len > 0) {
		size_t n = unwanted(t);
		if (n > 0) {
			blank = clean.len > 0;
		} else {
			uint32_t c;
			n = utf8_next(t, &c);
			if (blank)
				str_add_char(&clean, ' ');
			blank = false;
			str_add(&clean, t.p, n);
		}
		t = text_after(t, n);
	}
	struct text all = {str_text(&clean), clean.len};
	bool cut = all.len > NFT_COMMENT_MAX;
	if (cut)
		all.len = utf8_cut(all, NFT_COMMENT_MAX - 3);
	memcpy(out, all.p, all.len);
	memcpy(out + all.len, cut ? "..." : "", cut ? 4 : 1);
}

/* ---- Rules ---- */

static void add_match(const struct egress_rule *r, struct str *out)
{
	bool v4 = r->to.address.family == AF_INET;
	char prefix[CIDR_TEXT_SIZE];

	if (r->to.bits == 0) {
		str_addf(out, "meta nfproto %s ", v4 ? "ipv4" : "ipv6");
		return;
	}
	cidr_text(&r->to, prefix);
	str_addf(out, "%s daddr %s ", v4 ? "ip" : "ip6", prefix);
}

static void add_ports(const struct egress_policy *p, const struct egress_rule *r, struct str *out)
{
	const uint16_t *ports;
	size_t n = egress_policy_ports(p, r, &ports);

	if (r->protocol == EGRESS_ANY)
		return;
	if (n == 0) {
		str_addf(out, "meta l4proto %s ", egress_protocol_text(r->protocol));
		return;
	}
	str_addf(out, "%s dport ", egress_protocol_text(r->protocol));
	if (n > 1)
		str_add_text(out, "{ ");
	for (size_t i = 0; i < n; i++)
		str_addf(out, "%s%u", i > 0 ? ", " : "", (unsigned)ports[i]);
	str_add_text(out, n > 1 ? " } " : " ");
}

static void add_rule(const struct egress_policy *p, const struct egress_rule *r, struct str *out)
{
	char comment[NFT_COMMENT_MAX + 1];

	nft_script_comment(text_of(r->reason), comment);
	str_add_text(out, "\t\t");
	add_match(r, out);
	add_ports(p, r, out);
	str_addf(out, "counter %s comment \"%s\"\n", r->allow ? "accept" : "goto refuse", comment);
}

/* All rules but those of the two stages, then the default. */
static void add_rules(
	const struct egress_policy *p, bool local, bool public_internet, struct str *out)
{
	for (size_t i = 0; i < p->n_rules; i++) {
		enum egress_stage stage = p->rules[i].stage;
		if ((local || stage != EGRESS_LOOPBACK) &&
			(public_internet || stage != EGRESS_PUBLIC))
			add_rule(p, &p->rules[i], out);
	}
	str_add_text(out, REFUSE("default deny"));
}

/* ---- Chains ---- */

static void begin(const char *chain, struct str *out)
{
	str_addf(out, "\tchain %s {\n", chain);
}

static void begin_hook(const char *chain, const char *policy, struct str *out)
{
	begin(chain, out);
	str_addf(out, "\t\ttype filter hook %s priority filter; policy %s;\n", chain, policy);
}

static void end(struct str *out)
{
	str_add_text(out, "\t}\n");
}

static void add_bridge_chains(const struct egress_policy *p, struct text bridge, struct str *out)
{
	int n = (int)bridge.len;

	begin("from_sandbox", out);
	str_add_text(out, ESTABLISHED INVALID);
	add_rules(p, false, true, out);
	end(out);
	begin("to_host", out);
	str_add_text(out, ESTABLISHED NEIGHBOURS_OUT INVALID);
	add_rules(p, false, false, out);
	end(out);
	begin("to_sandbox", out);
	str_add_text(out, ESTABLISHED REFUSE("nothing opens a connection into a sandbox"));
	end(out);
	begin_hook("forward", "accept", out);
	str_addf(out, "\t\tiifname \"%.*s\" goto from_sandbox\n", n, bridge.p);
	str_addf(out, "\t\toifname \"%.*s\" goto to_sandbox\n", n, bridge.p);
	end(out);
	begin_hook("input", "accept", out);
	str_addf(out, "\t\tiifname \"%.*s\" goto to_host\n", n, bridge.p);
	end(out);
}

static void add_namespace_chains(const struct egress_policy *p, struct str *out)
{
	begin_hook("output", "drop", out);
	str_add_text(out, ESTABLISHED INVALID NEIGHBOURS_OUT);
	add_rules(p, true, true, out);
	end(out);
	begin_hook("input", "drop", out);
	str_add_text(out, ESTABLISHED "\t\tiifname \"lo\" accept\n" NEIGHBOURS_IN);
	end(out);
	begin_hook("forward", "drop", out);
	end(out);
}

/* ---- The script ---- */

static void add_head(const struct egress_policy *p, struct str *out)
{
	str_addf(out, "# cloop egress filter, mode %s, %zu rules\n", egress_mode_text(p->mode),
		p->n_rules);
	for (size_t i = 0; i < p->n_warnings; i++)
		str_addf(out, "# WARNING: %s\n", egress_warning_code_text(p->warnings[i].code));
}

static void add_removal(struct text table, struct str *out)
{
	str_addf(out, "add table inet %.*s\ndelete table inet %.*s\n", (int)table.len, table.p,
		(int)table.len, table.p);
}

int nft_script_render(const struct egress_policy *p, const struct nft_script_names *names,
	struct str *out, struct error *err)
{
	char comment[NFT_COMMENT_MAX + 1];

	if (nft_script_check_table(names->table, err) < 0)
		return -1;
	if (names->form == NFT_BRIDGE && nft_script_check_bridge(names->bridge, err) < 0)
		return -1;
	nft_script_comment(names->comment, comment);
	add_head(p, out);
	add_removal(names->table, out);
	str_addf(out, "table inet %.*s {\n\tcomment \"%s\"\n", (int)names->table.len,
		names->table.p, comment);
	begin("refuse", out);
	str_add_text(out, "\t\tmeta l4proto tcp counter reject with tcp reset\n"
			  "\t\tcounter reject with icmpx admin-prohibited\n");
	end(out);
	if (names->form == NFT_BRIDGE)
		add_bridge_chains(p, names->bridge, out);
	else
		add_namespace_chains(p, out);
	str_add_text(out, "}\n");
	return 0;
}

int nft_script_remove(struct text table, struct str *out, struct error *err)
{
	if (nft_script_check_table(table, err) < 0)
		return -1;
	add_removal(table, out);
	return 0;
}

bool nft_script_is_privilege(struct text standard_error)
{
	static const char *const signs[] = {
		"permission denied", "operation not permitted", "address family not supported"};
	AUTO(str) lower = STR_INIT(standard_error.len);

	for (size_t i = 0; i < standard_error.len; i++)
		str_add_char(&lower, ascii_to_lower(standard_error.p[i]));
	for (size_t i = 0; i < ARRAY_SIZE(signs); i++)
		if (text_has((struct text){str_text(&lower), lower.len}, signs[i]))
			return true;
	return false;
}
