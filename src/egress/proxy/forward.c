#include "egress/proxy/forward.h"

enum { HTTP_PORT = 80, STATUS_AT = 9 /* behind "HTTP/1.x " */ };
#define VERDICT_FIELD "X-Cloop-Egress-Verdict"

static void add(struct str *out, struct text t)
{
	str_add(out, t.p, t.len);
}

static void add_fields(const struct http_head *h, struct str *out)
{
	for (size_t i = 0; i < h->n_fields; i++) {
		const struct http_field *f = &h->fields[i];
		if (!http_head_forwards(h, f) || text_is_nocase(f->name, VERDICT_FIELD))
			continue;
		add(out, f->name);
		add(out, TEXT(": "));
		add(out, f->value);
		add(out, TEXT("\r\n"));
	}
}

static void add_body(const struct http_body *b, bool chunks, struct str *out)
{
	if (b->kind == HTTP_BODY_LENGTH)
		str_addf(out, "Content-Length: %llu\r\n", (unsigned long long)b->length);
	if (b->kind == HTTP_BODY_CHUNKED && chunks)
		str_add_text(out, "Transfer-Encoding: chunked\r\n");
}

void forward_request(const struct http_request *r, bool close, struct str *out)
{
	char host[AUTHORITY_HOST_SIZE];

	authority_host(&r->to, host);
	add(out, r->method);
	str_addf(out, " %s HTTP/1.1\r\nHost: %s", r->path, host);
	if (r->to.port != HTTP_PORT)
		str_addf(out, ":%u", (unsigned)r->to.port);
	str_add_text(out, "\r\n");
	add_fields(&r->head, out);
	add_body(&r->head.body, true, out);
	str_add_text(out, close ? "Connection: close\r\n\r\n" : "\r\n");
}

/* The length that the answer to a HEAD, or a 304, would have had: nothing follows it. */
static void add_length_told(const struct http_response *r, struct str *out)
{
	struct text length;

	if (r->head.body.kind == HTTP_BODY_NONE && r->status >= 200 && r->status != 204 &&
		http_head_find(&r->head, "content-length", &length) == 1)
		str_addf(out, "Content-Length: %llu\r\n", (unsigned long long)r->head.body.length);
}

void forward_response(
	const struct http_response *r, const struct forward_answer *how, struct str *out)
{
	str_add_text(out, "HTTP/1.1 ");
	add(out, text_after(how->line, STATUS_AT));
	str_add_text(out, how->line.len == STATUS_AT + 3 ? " \r\n" : "\r\n");
	add_fields(&r->head, out);
	add_body(&r->head.body, how->minor > 0, out);
	add_length_told(r, out);
	if (how->close && r->status >= 200)
		str_add_text(out, "Connection: close\r\n");
	str_addf(out, VERDICT_FIELD ": %s\r\n\r\n", how->verdict);
}

struct text forward_line(struct text raw)
{
	const char *end = memchr(raw.p, '\r', raw.len);

	return (struct text){raw.p, end ? (size_t)(end - raw.p) : raw.len};
}
