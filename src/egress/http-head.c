#include "egress/http-head.h"

#include <stdio.h>
#include <strings.h>

enum { LENGTH_DIGITS_MAX = 18 };

/* ---- Lines and fields ---- */

/* The next line off *rest, without its CRLF: no other line end, no NUL. */
static bool take_line(struct text *rest, size_t max, struct text *ret)
{
	for (size_t i = 0; i < rest->len && i <= max; i++) {
		char c = rest->p[i];
		if (c == '\n' || c == '\0')
			return false;
		if (c != '\r')
			continue;
		if (i + 1 >= rest->len || rest->p[i + 1] != '\n')
			return false;
		*ret = (struct text){rest->p, i};
		*rest = text_after(*rest, i + 2);
		return true;
	}
	return false;
}

static bool token_valid(struct text t)
{
	return t.len > 0 && text_all_word(t, "!#$%&'*+-.^_`|~");
}

static bool value_valid(struct text t)
{
	for (size_t i = 0; i < t.len; i++)
		if (ascii_control(t.p[i]) && t.p[i] != '\t')
			return false;
	return true;
}

static bool read_field(struct text line, struct http_field *ret)
{
	const char *colon = memchr(line.p, ':', line.len);

	if (!colon)
		return false;
	ret->name = (struct text){line.p, (size_t)(colon - line.p)};
	ret->value = text_trim(text_after(line, ret->name.len + 1));
	return token_valid(ret->name) && value_valid(ret->value);
}

static bool read_fields(struct text *rest, struct http_head *h)
{
	const char *begin = rest->p;
	struct text line;

	for (;;) {
		size_t used = (size_t)(rest->p - begin);
		if (!take_line(rest, HTTP_FIELDS_BYTES_MAX - used, &line))
			return false;
		if (line.len == 0)
			return true;
		if ((size_t)(rest->p - begin) > HTTP_FIELDS_BYTES_MAX ||
			h->n_fields == HTTP_FIELDS_MAX ||
			!read_field(line, &h->fields[h->n_fields]))
			return false;
		h->n_fields++;
	}
}

size_t http_head_find(const struct http_head *h, const char *name, struct text *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < h->n_fields; i++) {
		if (!text_is_nocase(h->fields[i].name, name))
			continue;
		*ret = h->fields[i].value;
		n++;
	}
	return n;
}

bool http_head_lists(const struct http_head *h, const char *name, struct text word)
{
	for (size_t i = 0; i < h->n_fields; i++) {
		struct text rest = h->fields[i].value, part;
		if (!text_is_nocase(h->fields[i].name, name))
			continue;
		while (text_split(&rest, ',', &part)) {
			part = text_trim(part);
			if (part.len == word.len && strncasecmp(part.p, word.p, word.len) == 0)
				return true;
		}
	}
	return false;
}

/* ---- Bodies ---- */

static bool read_length(struct text t, uint64_t *ret)
{
	uint64_t n = 0;

	if (t.len == 0 || t.len > LENGTH_DIGITS_MAX)
		return false;
	for (size_t i = 0; i < t.len; i++) {
		if (!ascii_digit(t.p[i]))
			return false;
		n = n * 10 + (uint64_t)(t.p[i] - '0');
	}
	*ret = n;
	return true;
}

/* What the fields say of a body; HTTP_BODY_NONE: nothing. */
static bool read_body(struct http_head *h)
{
	struct text length = {0}, encoding = {0}, other;
	size_t n_lengths = http_head_find(h, "content-length", &length);
	size_t n_encodings = http_head_find(h, "transfer-encoding", &encoding);

	if (n_lengths + n_encodings > 1 || http_head_find(h, "host", &other) > 1 ||
		http_head_find(h, "proxy-authorization", &other) > 1)
		return false;
	if (n_lengths > 0) {
		h->body.kind = HTTP_BODY_LENGTH;
		return read_length(length, &h->body.length);
	}
	if (n_encodings > 0) {
		h->body.kind = HTTP_BODY_CHUNKED;
		return h->minor == 1 && text_is_nocase(encoding, "chunked");
	}
	return true;
}

static bool read_version(struct text t, unsigned *ret)
{
	*ret = text_is(t, "HTTP/1.1");
	return *ret == 1 || text_is(t, "HTTP/1.0");
}

/* ---- Requests ---- */

static bool method_valid(struct text t)
{
	if (t.len == 0 || t.len >= HTTP_METHOD_SIZE)
		return false;
	for (size_t i = 0; i < t.len; i++)
		if (!ascii_upper(t.p[i]))
			return false;
	return true;
}

static bool target_valid(struct text t)
{
	for (size_t i = 0; i < t.len; i++)
		if (t.p[i] < 0x21 || t.p[i] > 0x7e || t.p[i] == '#')
			return false;
	return t.len > 0;
}

/* http://AUTHORITY[PATH][?QUERY] */
static bool read_absolute(struct text target, struct http_request *ret)
{
	static const char scheme[] = "http://";
	size_t n = 0;

	if (!text_starts_nocase(target, scheme))
		return false;
	target = text_after(target, sizeof(scheme) - 1);
	while (n < target.len && target.p[n] != '/' && target.p[n] != '?')
		n++;
	struct text rest = text_after(target, n);
	snprintf(ret->path, sizeof(ret->path), "%s%.*s", text_starts(rest, "/") ? "" : "/",
		(int)rest.len, rest.p);
	return authority_parse(AUTHORITY_URL, (struct text){target.p, n}, &ret->to);
}

static bool read_request_line(struct text line, struct http_request *ret)
{
	struct text rest = line, target = {0}, version = {0};

	if (!text_split(&rest, ' ', &ret->method) || !method_valid(ret->method))
		return false;
	if (!text_split(&rest, ' ', &target) || !target_valid(target))
		return false;
	if (!text_split(&rest, ' ', &version) || rest.p || !read_version(version, &ret->head.minor))
		return false;
	ret->path[0] = '\0';
	if (text_is(ret->method, "CONNECT"))
		return authority_parse(AUTHORITY_CONNECT, target, &ret->to);
	return read_absolute(target, ret);
}

bool http_head_request(struct text raw, struct http_request *ret)
{
	struct http_head *h = &ret->head;
	struct text rest = raw, line;

	h->n_fields = 0;
	h->body = (struct http_body){HTTP_BODY_NONE, 0};
	if (!take_line(&rest, HTTP_LINE_MAX, &line) || !read_request_line(line, ret) ||
		!read_fields(&rest, h) || !read_body(h))
		return false;
	if (text_is(ret->method, "CONNECT")) {
		if (h->body.kind == HTTP_BODY_CHUNKED || h->body.length > 0)
			return false;
		h->body.kind = HTTP_BODY_NONE;
	}
	h->bytes = raw.len - rest.len;
	ret->keep_alive = h->minor == 1 && !http_head_lists(h, "connection", TEXT("close")) &&
			  !http_head_lists(h, "proxy-connection", TEXT("close"));
	return true;
}

/* ---- Responses ---- */

static bool read_status_line(struct text line, struct http_response *ret)
{
	struct text rest = line, version = {0}, code = {0};

	if (!text_split(&rest, ' ', &version) || !read_version(version, &ret->head.minor))
		return false;
	if (!text_split(&rest, ' ', &code) || code.len != 3)
		return false;
	if (!ascii_digit(code.p[0]) || !ascii_digit(code.p[1]) || !ascii_digit(code.p[2]))
		return false;
	ret->status =
		(unsigned)((code.p[0] - '0') * 100 + (code.p[1] - '0') * 10 + (code.p[2] - '0'));
	if (ret->status < 100 || ret->status > 599 || ret->status == 101)
		return false;
	return !rest.p || value_valid(rest);
}

bool http_head_response(struct text raw, bool to_head, struct http_response *ret)
{
	struct http_head *h = &ret->head;
	struct text rest = raw, line;

	h->n_fields = 0;
	h->body = (struct http_body){HTTP_BODY_NONE, 0};
	if (!take_line(&rest, HTTP_LINE_MAX, &line) || !read_status_line(line, ret) ||
		!read_fields(&rest, h) || !read_body(h))
		return false;
	h->bytes = raw.len - rest.len;
	if (to_head || ret->status < 200 || ret->status == 204 || ret->status == 304)
		h->body.kind = HTTP_BODY_NONE; /* the length is told nevertheless */
	else if (h->body.kind == HTTP_BODY_NONE)
		h->body.kind = HTTP_BODY_CLOSE;
	return true;
}

/* ---- What is passed on ---- */

bool http_head_forwards(const struct http_head *h, const struct http_field *f)
{
	static const char *const kept[] = {"connection", "proxy-connection", "keep-alive", "te",
		"trailer", "transfer-encoding", "upgrade", "proxy-authorization",
		"proxy-authenticate", "host", "content-length"};

	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		if (text_is_nocase(f->name, kept[i]))
			return false;
	return !http_head_lists(h, "connection", f->name) &&
	       !http_head_lists(h, "proxy-connection", f->name);
}
