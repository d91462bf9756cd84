#include "egress/proxy/refusal.h"

enum { LISTED_MAX = 32, HOSTS_BYTES_MAX = 2048 };

static const struct rule {
	const char *why;
	bool cured; /* by another grant */
} rules[EGRESS_VERDICT_COUNT] = {
	[EGRESS_VERDICT_ALLOW] = {"", false},
	[EGRESS_VERDICT_MALFORMED] = {"The request is not of the strict grammar that this proxy "
				      "reads.",
		false},
	[EGRESS_VERDICT_UNAUTHENTICATED] = {"This proxy serves sandboxes with a session; use the "
					    "proxy variables of the environment.",
		false},
	[EGRESS_VERDICT_SESSION_EXPIRED] = {"The session of this sandbox has ended.", false},
	[EGRESS_VERDICT_TOO_MANY_CONNECTIONS] = {"The session has as many connections open as it "
						 "may; close one, or try again.",
		false},
	[EGRESS_VERDICT_QUOTA] = {"The bytes that the grant allows are used up.", true},
	[EGRESS_VERDICT_METHOD] = {"The grant does not allow this method.", true},
	[EGRESS_VERDICT_PORT] = {"The grant does not allow this port.", true},
	[EGRESS_VERDICT_HOST] = {"The grant does not allow this host.", true},
	[EGRESS_VERDICT_RESOLVE] = {"The name of the host has no address, or none was found in "
				    "time.",
		false},
	[EGRESS_VERDICT_BLOCKED] = {"The host has an address that is not public, and the grant has "
				    "no range that holds it.",
		true},
	[EGRESS_VERDICT_DIAL] = {"The host is allowed, but none of its addresses could be "
				 "connected to.",
		false},
	[EGRESS_VERDICT_SHUTTING_DOWN] = {"The proxy is ending.", false},
	[EGRESS_VERDICT_BAD_UPSTREAM] = {"The host is allowed, but its answer was broken or did "
					 "not come.",
		false},
	[EGRESS_VERDICT_DENIED] = {"The request was denied.", true},
};

static void add_hosts(const struct egress_grant *g, struct str *body)
{
	size_t begin = body->len, n = 0;

	str_add_text(body, "Allowed hosts:");
	while (n < g->hosts.n && n < LISTED_MAX &&
		body->len - begin + strlen(g->hosts.v[n]) < HOSTS_BYTES_MAX)
		str_addf(body, " %s", g->hosts.v[n++]);
	if (n < g->hosts.n)
		str_addf(body, " and %zu more", g->hosts.n - n);
	if (g->hosts.n == 0)
		str_add_text(body, " none by name");
	if (g->n_cidrs > 0)
		str_addf(body, "; and %zu address range%s", g->n_cidrs, g->n_cidrs == 1 ? "" : "s");
	str_add_text(body, "\nAllowed ports:");
	for (size_t i = 0; i < g->n_ports && i < LISTED_MAX; i++)
		str_addf(body, " %u", (unsigned)g->ports[i]);
	if (g->n_ports > LISTED_MAX)
		str_addf(body, " and %zu more", g->n_ports - LISTED_MAX);
	str_add_text(body, "\n");
}

/* What an operator would run so that this request passes. */
static void add_command(const struct refusal *r, struct str *body)
{
	struct address literal;
	bool blocked = r->verdict == EGRESS_VERDICT_BLOCKED;

	str_add_text(body, "\nTo ask for it: an operator can run\n"
			   "  cloop egress grant --to project:<this project>");
	if (blocked && authority_address(r->to, &literal))
		str_addf(body, " --cidrs %s/%u", r->to->host, address_bits(&literal));
	else
		str_addf(body, " --hosts %s", r->to->host);
	if (blocked && !authority_address(r->to, &literal))
		str_add_text(body, " --cidrs <range of its address>");
	str_addf(body, " --ports %u", (unsigned)r->to->port);
	if (r->verdict == EGRESS_VERDICT_METHOD)
		str_addf(body, " --methods %s", r->method);
	if (r->verdict == EGRESS_VERDICT_QUOTA)
		str_add_text(body, " --max-up <size> --max-down <size>");
	str_add_text(body,
		"\nand its ID goes into capabilities.network of .cloop/sandbox.yaml. A run "
		"uses one grant:\nit has to list every host and port that the run needs.\n");
}

static void add_body(const struct refusal *r, struct str *body)
{
	char host[AUTHORITY_HOST_SIZE];

	if (!r->grant) {
		str_addf(body, "cloop egress: %s\n%s\n", egress_verdict_text(r->verdict),
			rules[r->verdict].why);
		return;
	}
	authority_host(r->to, host);
	str_addf(body, "cloop egress: refused %s %s:%u\nRule: %s\nWhy: %s\nGrant: %s\n", r->method,
		host, (unsigned)r->to->port, egress_verdict_text(r->verdict), rules[r->verdict].why,
		r->grant->id);
	add_hosts(r->grant, body);
	if (rules[r->verdict].cured)
		add_command(r, body);
}

void refusal_write(const struct refusal *r, struct str *out)
{
	AUTO(str) body = STR_INIT(REFUSAL_BODY_MAX);
	const char *verdict = egress_verdict_text(r->verdict);
	int status = egress_verdict_status(r->verdict);

	add_body(r, &body);
	str_addf(out,
		"HTTP/1.1 %d cloop egress: %s\r\nContent-Type: text/plain; charset=utf-8\r\n"
		"Content-Length: %zu\r\nConnection: close\r\nX-Cloop-Egress-Verdict: %s\r\n",
		status, verdict, body.len, verdict);
	if (status == 407)
		str_add_text(out, "Proxy-Authenticate: Basic realm=\"cloop-egress\"\r\n");
	if (r->verdict == EGRESS_VERDICT_TOO_MANY_CONNECTIONS)
		str_add_text(out, "Retry-After: 1\r\n");
	str_add_text(out, "\r\n");
	if (!r->to_head)
		str_add(out, str_text(&body), body.len);
}
