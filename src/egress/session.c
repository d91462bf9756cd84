#include "egress/session.h"

#include "base/json.h"

enum { DIGEST_DIGITS = SHA256_HEX_SIZE - 1 };

void egress_session_done(struct egress_session *s)
{
	secret_done(&s->token);
	egress_grant_done(&s->grant);
	*s = (struct egress_session){.deadline_ms = 0};
}

bool egress_session_id_valid(struct text id)
{
	return id.len == EGRESS_SESSION_ID_SIZE - 1 && text_starts(id, "sess_") &&
	       text_is_hex(text_after(id, 5), EGRESS_SESSION_ID_DIGITS);
}

json_t *egress_session_to_json(const struct egress_session *s)
{
	return json_pack("{s:s, s:s, s:o, s:I, s:I, s:I, s:I, s:I, s:I}", "session", s->id,
		"token_sha256", s->token_sha256, "grant", egress_grant_to_json(&s->grant),
		"grant_expires_ns", (json_int_t)s->grant.expires_at_ns, "deadline_boottime_ms",
		(json_int_t)s->deadline_ms, "max_connections", (json_int_t)s->max_connections,
		"dial_timeout_s", (json_int_t)s->dial_timeout_s, "bytes_up",
		(json_int_t)s->bytes_up, "bytes_down", (json_int_t)s->bytes_down);
}

static int read_number(
	json_t *object, const char *key, int64_t max, int64_t *ret, struct error *err)
{
	json_int_t n = json_get_int(object, key, -1);

	if (n < 0 || n > max)
		return error_set(err, ERROR_EGRESS_PROXY_FAILED,
			"a session's %s is missing or no number", key);
	*ret = n;
	return 0;
}

static int read_numbers(json_t *object, struct egress_session *ret, struct error *err)
{
	int64_t connections, dial, up, down;

	if (read_number(object, "grant_expires_ns", INT64_MAX, &ret->grant.expires_at_ns, err) <
			0 ||
		read_number(object, "deadline_boottime_ms", INT64_MAX, &ret->deadline_ms, err) <
			0 ||
		read_number(object, "max_connections", EGRESS_SESSION_CONNECTIONS_MAX, &connections,
			err) < 0 ||
		read_number(object, "dial_timeout_s", EGRESS_SESSION_DIAL_TIMEOUT_MAX, &dial, err) <
			0 ||
		read_number(object, "bytes_up", INT64_MAX, &up, err) < 0 ||
		read_number(object, "bytes_down", INT64_MAX, &down, err) < 0)
		return -1;
	ret->max_connections = (unsigned)connections;
	ret->dial_timeout_s = (unsigned)dial;
	ret->bytes_up = (uint64_t)up;
	ret->bytes_down = (uint64_t)down;
	return 0;
}

int egress_session_read(json_t *object, struct egress_session *ret, struct error *err)
{
	struct text id = json_get_text(object, "session"),
		    digest = json_get_text(object, "token_sha256");

	*ret = (struct egress_session){.deadline_ms = 0};
	if (!id.p || !egress_session_id_valid(id))
		return error_set(err, ERROR_EGRESS_PROXY_FAILED, "%s is no ID of a session",
			quoted(id.p ? id : TEXT("")));
	if (!digest.p || !text_is_hex(digest, DIGEST_DIGITS))
		return error_set(
			err, ERROR_EGRESS_PROXY_FAILED, "a session has no digest of its token");
	memcpy(ret->id, id.p, id.len);
	memcpy(ret->token_sha256, digest.p, digest.len);
	if (egress_grant_read(json_object_get(object, "grant"), &ret->grant, err) < 0)
		return -1;
	return read_numbers(object, ret, err);
}
