/*
 * Heads and authorities: what is accepted keeps its promises. No byte of a head is read twice with
 * another meaning: what would be sent on reads back as the same request.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "egress/http-head.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_url(const struct authority *a, const char *path, struct str *out)
{
	bool v6 = strchr(a->host, ':') != NULL;

	str_addf(out, v6 ? "[%s]:%u%s" : "%s:%u%s", a->host, (unsigned)a->port, path);
}

static void check_same(const struct http_request *a, const struct http_request *b)
{
	assert(text_equal(a->method, b->method) && strcmp(a->path, b->path) == 0);
	assert(strcmp(a->to.host, b->to.host) == 0 && a->to.port == b->to.port);
}

static void check_request(struct text raw)
{
	auto_free struct http_request *q = mem_alloc(sizeof(*q)),
				      *again = mem_alloc(sizeof(*again));
	AUTO(str) out = STR_INIT(HTTP_HEAD_MAX * 2);

	if (!http_head_request(raw, q))
		return;
	bool connect = text_is(q->method, "CONNECT");
	assert(q->head.bytes <= raw.len && q->to.port > 0 && q->to.host[0]);
	assert(connect || q->path[0] == '/');
	str_addf(&out, "%.*s %s", (int)q->method.len, q->method.p, connect ? "" : "http://");
	write_url(&q->to, q->path, &out);
	str_addf(&out, " HTTP/1.%u\r\n", q->head.minor);
	for (size_t i = 0; i < q->head.n_fields; i++) {
		const struct http_field *f = &q->head.fields[i];
		if (!http_head_forwards(&q->head, f))
			continue;
		str_add(&out, f->name.p, f->name.len);
		str_add_text(&out, ": ");
		str_add(&out, f->value.p, f->value.len);
		str_add_text(&out, "\r\n");
	}
	str_add_text(&out, "\r\n");
	/* Longer than it came: a blank behind a colon, a port that was not written. */
	if (http_head_request((struct text){str_text(&out), out.len}, again))
		check_same(q, again);
	else
		assert(out.len > q->head.bytes);
}

static void check_response(struct text raw)
{
	auto_free struct http_response *a = mem_alloc(sizeof(*a));

	if (!http_head_response(raw, false, a))
		return;
	assert(a->head.bytes <= raw.len && a->status >= 100 && a->status <= 599 &&
		a->status != 101);
	assert(a->head.body.kind != HTTP_BODY_CHUNKED || a->head.minor == 1);
}

static void check_authority(enum authority_form form, struct text t)
{
	AUTO(str) out = STR_INIT(1024);
	struct authority a, again;

	if (!authority_parse(form, t, &a))
		return;
	write_url(&a, "", &out);
	bool parsed = authority_parse(AUTHORITY_CONNECT, text_of(str_text(&out)), &again);
	assert(parsed || out.len > AUTHORITY_MAX_BYTES);
	assert(!parsed || (strcmp(a.host, again.host) == 0 && a.port == again.port));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text t = {(const char *)data, size};

	check_request(t);
	check_response(t);
	check_authority(AUTHORITY_CONNECT, t);
	check_authority(AUTHORITY_URL, t);
	return 0;
}
