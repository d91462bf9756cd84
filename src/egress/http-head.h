/*
 * The heads of requests to the proxy and of the answers it relays (network.md §13.2, §13.5). One
 * strict reading: two parsers that disagree are a way around the name wall. Pure; views into the
 * bytes read.
 */
#pragma once

#include "egress/authority.h"

enum {
	HTTP_LINE_MAX = 8192,          /* of the first line, without its CRLF */
	HTTP_FIELDS_BYTES_MAX = 32768, /* of all fields, with theirs */
	HTTP_FIELDS_MAX = 100,
	HTTP_METHOD_SIZE = 33, /* with a NUL */
	HTTP_HEAD_MAX = HTTP_LINE_MAX + HTTP_FIELDS_BYTES_MAX + 4,
	HTTP_PATH_SIZE = HTTP_LINE_MAX + 2,
};

struct http_field {
	struct text name, value; /* as written; the value without blanks around it */
};

enum http_body_kind { HTTP_BODY_NONE, HTTP_BODY_LENGTH, HTTP_BODY_CHUNKED, HTTP_BODY_CLOSE };
struct http_body {
	enum http_body_kind kind;
	/* Also where an answer has none (HTTP_BODY_NONE): what its field told; 0 without one. */
	uint64_t length;
};

struct http_head {
	size_t bytes;   /* with the empty line at its end: the body begins there */
	unsigned minor; /* HTTP/1.minor */
	struct http_field fields[HTTP_FIELDS_MAX];
	size_t n_fields;
	struct http_body body;
};

struct http_request {
	struct http_head head;
	struct text method;
	struct authority to;
	char path[HTTP_PATH_SIZE]; /* with the query; "" of CONNECT */
	bool keep_alive;           /* of the client's connection */
};
struct http_response {
	struct http_head head;
	unsigned status;
};

/*
 * `raw` begins with a whole head; what follows it is not looked at. False: malformed_request
 * (bad_upstream), *ret is in an unknown state then. to_head: the request was a HEAD.
 */
bool http_head_request(struct text raw, struct http_request *ret);
bool http_head_response(struct text raw, bool to_head, struct http_response *ret);

/* The field, one of this head, is passed on as it is: it is neither of one hop nor written anew. */
bool http_head_forwards(const struct http_head *h, const struct http_field *f);
/* How many fields of the name there are (in any case); *ret is the last one's value. */
size_t http_head_find(const struct http_head *h, const char *name, struct text *ret);
/* The word (in any case) is in one of the lists that a field of this name holds. */
bool http_head_lists(const struct http_head *h, const char *name, struct text word);
