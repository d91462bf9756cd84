/* The kinds of area net about grants and the proxy's decisions (network.md §11, §13). */
#include "base/mem.h"
#include "egress/decide.h"
#include "egress/http-head.h"
#include "egress/proxy-env.h"
#include "runner/case.h"
#include "runner/net-json.h"
#include "sys/clock.h"

enum { ANSWERS_MAX = 64, LIST_MAX = 1024 };

/* The normal form, with the times where they are given. */
static json_t *normalized(const struct egress_grant *g)
{
	const struct {
		const char *key;
		int64_t ns;
	} times[] = {{"created_at", g->created_at_ns}, {"expires_at", g->expires_at_ns}};
	json_t *j = egress_grant_to_json(g);
	char text[CLOCK_TEXT_SIZE];

	for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
		clock_format(times[i].ns, text);
		if (times[i].ns)
			json_object_set_new(j, times[i].key, json_string(text));
	}
	return j;
}

static void run_grant(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(egress_grant) g;

	if (egress_grant_read(json_object_get(c, "grant"), &g, &err) == 0) {
		case_subset(r, c, json_pack("{s:b, s:o}", "ok", 1, "normalized", normalized(&g)));
		return;
	}
	json_t *got = json_pack("{s:s}", "error", error_code_text(err.code));
	json_object_set(got, "path", json_object_get(err.details, "path"));
	case_exact(r, c, got);
}

static void run_host_pattern(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	char out[HOST_PATTERN_SIZE];

	if (host_pattern_parse(json_get_text(c, "text"), out, &err) < 0)
		case_exact(r, c, net_json_error(&err));
	else
		case_exact(r, c, json_pack("{s:s}", "pattern", out));
}

static void run_host_match(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	char pattern[HOST_PATTERN_SIZE];

	if (host_pattern_parse(json_get_text(c, "pattern"), pattern, &err) < 0)
		case_exact(r, c, net_json_error(&err));
	else
		case_exact(r, c,
			json_boolean(host_pattern_matches(pattern, json_get_string(c, "host"))));
}

static void run_bytes(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	uint64_t bytes;

	if (egress_grant_bytes(json_get_text(c, "text"), &bytes, &err) < 0)
		case_exact(r, c, net_json_error(&err));
	else
		case_exact(r, c, json_pack("{s:I}", "bytes", (json_int_t)bytes));
}

static void run_authority(json_t *c, struct case_result *r)
{
	bool connect = text_is(json_get_text(c, "form"), "connect");
	struct authority a;

	if (!authority_parse(
		    connect ? AUTHORITY_CONNECT : AUTHORITY_URL, json_get_text(c, "authority"), &a))
		case_exact(r, c, json_string("malformed"));
	else
		case_exact(r, c, json_pack("{s:s, s:i}", "host", a.host, "port", (int)a.port));
}

/* ---- decide ---- */

static size_t read_answers(json_t *list, struct address ret[ANSWERS_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < json_array_size(list) && i < ANSWERS_MAX; i++)
		if (address_parse(json_text(json_array_get(list, i)), &ret[n]))
			n++;
	return n;
}

static enum egress_verdict decide(json_t *c, int *ret_lookups, struct address *ret, size_t *ret_n)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(egress_grant) g;
	json_t *request = json_object_get(c, "request"), *state = json_object_get(c, "session");
	struct egress_request q = {.method = json_get_string(request, "method")};
	struct egress_session_state s = {.expired = json_get_bool(state, "expired", false),
		.connections = (uint64_t)json_get_int(state, "connections", 0),
		.max_connections = 64,
		.bytes_up = (uint64_t)json_get_int(state, "bytes_up", 0),
		.bytes_down = (uint64_t)json_get_int(state, "bytes_down", 0)};
	struct egress_pending p;
	bool connect = text_is(text_of(q.method), "CONNECT");

	if (egress_grant_read(json_object_get(c, "grant"), &g, &err) < 0)
		return EGRESS_VERDICT_DENIED;
	if (!authority_parse(connect ? AUTHORITY_CONNECT : AUTHORITY_URL,
		    json_get_text(request, "authority"), &q.to))
		return EGRESS_VERDICT_MALFORMED;
	enum egress_verdict v = decide_request(&g, &s, &q, &p);
	if (v != EGRESS_VERDICT_ALLOW)
		return v;
	*ret_lookups = !p.literal;
	ret[0] = p.address;
	*ret_n = p.literal ? 1 : read_answers(json_object_get(c, "resolved"), ret);
	return decide_addresses(&g, &p, ret, *ret_n);
}

static void run_decide(json_t *c, struct case_result *r)
{
	struct address to[ANSWERS_MAX];
	char text[INET6_ADDRSTRLEN];
	size_t n = 0;
	int lookups = 0;
	enum egress_verdict v = decide(c, &lookups, to, &n);
	json_t *got = json_pack("{s:s, s:i, s:i}", "verdict", egress_verdict_text(v), "status",
		egress_verdict_status(v), "lookups", lookups);
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++) {
		address_text(&to[i], text);
		json_array_append_new(list, json_string(text));
	}
	if (v == EGRESS_VERDICT_ALLOW)
		json_object_set(got, "connect_to", list);
	json_decref(list);
	case_exact(r, c, got);
}

/* ---- http ---- */

static struct text raw_of(json_t *c)
{
	struct text encoded = json_get_text(c, "raw_b64"), raw = json_get_text(c, "raw");

	if (encoded.p)
		return case_base64(encoded);
	return (struct text){mem_strndup(raw.p, raw.len), raw.len};
}

static json_t *body_json(const struct http_body *b)
{
	auto_free char *length = mem_printf("length:%llu", (unsigned long long)b->length);

	switch (b->kind) {
	case HTTP_BODY_LENGTH:
		return json_string(length);
	case HTTP_BODY_CHUNKED:
		return json_string("chunked");
	case HTTP_BODY_CLOSE:
		return json_string("close");
	default:
		return json_string("none");
	}
}

static json_t *forwarded_json(const struct http_head *h)
{
	json_t *list = json_array();

	for (size_t i = 0; i < h->n_fields; i++) {
		AUTO(str) lower = STR_INIT(HTTP_HEAD_MAX);
		if (!http_head_forwards(h, &h->fields[i]))
			continue;
		for (size_t j = 0; j < h->fields[i].name.len; j++)
			str_add_char(&lower, ascii_to_lower(h->fields[i].name.p[j]));
		json_array_append_new(list, json_string(str_text(&lower)));
	}
	return list;
}

static void run_http(json_t *c, struct case_result *r)
{
	struct text raw = raw_of(c);
	auto_free struct http_request *q = mem_alloc(sizeof(*q));

	if (!http_head_request(raw, q))
		case_exact(r, c, json_pack("{s:s}", "error", "malformed_request"));
	else
		case_subset(r, c,
			json_pack("{s:{s:s%, s:s, s:i, s:s%, s:o, s:b, s:o}}", "ok", "method",
				q->method.p, q->method.len, "host", q->to.host, "port",
				(int)q->to.port, "path", q->path, strlen(q->path), "body",
				body_json(&q->head.body), "keep_alive", q->keep_alive, "forwarded",
				forwarded_json(&q->head)));
	free((void *)(uintptr_t)raw.p);
}

static void run_http_response(json_t *c, struct case_result *r)
{
	struct text raw = raw_of(c);
	auto_free struct http_response *a = mem_alloc(sizeof(*a));

	if (!http_head_response(raw, text_is(json_get_text(c, "method"), "HEAD"), a))
		case_exact(r, c, json_pack("{s:s}", "error", "bad_upstream"));
	else
		case_subset(r, c,
			json_pack("{s:{s:i, s:o}}", "ok", "status", (int)a->status, "body",
				body_json(&a->head.body)));
	free((void *)(uintptr_t)raw.p);
}

/* ---- proxy_env ---- */

static void read_list(json_t *object, const char *key, struct strv *ret)
{
	json_t *list = json_object_get(object, key);

	*ret = STRV_INIT(LIST_MAX);
	for (size_t i = 0; i < json_array_size(list); i++)
		if (strv_add(ret, json_string_value(json_array_get(list, i))) < 0)
			abort();
}

static void run_proxy_env(json_t *c, struct case_result *r)
{
	json_t *object = json_object_get(c, "session"), *got = json_array();
	AUTO(strv) hosts, cidrs, hub;
	AUTO(proxy_env) e;
	struct proxy_env_session s = {.id = json_get_text(object, "id"),
		.token = json_get_text(object, "token"),
		.proxy = {.port = (uint16_t)json_get_int(object, "port", 0)},
		.grant_id = json_get_text(object, "grant_id"),
		.hosts = &hosts,
		.cidrs = &cidrs,
		.hub_hosts = &hub,
		.expires = json_get_text(object, "expires")};

	read_list(object, "hosts", &hosts);
	read_list(object, "cidrs", &cidrs);
	read_list(object, "hub_hosts", &hub);
	if (!address_parse(json_get_text(object, "address"), &s.proxy.address))
		abort();
	proxy_env_make(&s, &e);
	for (size_t i = 0; i < e.n; i++) {
		auto_free char *line =
			mem_printf("%s=%s", e.variables[i].name, e.variables[i].value.p);
		json_array_append_new(got, json_string(line));
	}
	case_exact(r, c, got);
}

static const char *const session_fields[] = {"session", NULL};
static const char *const grant_fields[] = {"grant", NULL};
static const char *const text_fields[] = {"text", NULL};
static const char *const match_fields[] = {"pattern", "host", NULL};
static const char *const authority_fields[] = {"form", "authority", NULL};
static const char *const decide_fields[] = {"grant", "request", "resolved", "session", NULL};
static const char *const http_fields[] = {"raw", "raw_b64", "method", NULL};

const struct case_kind case_egress_kinds[] = {
	{"grant", grant_fields, run_grant},
	{"host_pattern", text_fields, run_host_pattern},
	{"host_match", match_fields, run_host_match},
	{"bytes", text_fields, run_bytes},
	{"authority", authority_fields, run_authority},
	{"decide", decide_fields, run_decide},
	{"proxy_env", session_fields, run_proxy_env},
	{"http", http_fields, run_http},
	{"http_response", http_fields, run_http_response},
	{NULL, NULL, NULL},
};
