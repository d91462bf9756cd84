#include "executor/runlog/chunker.h"

#include "executor/runlog/log-format.h"

/* Do `n` bytes begin a UTF-8 sequence of `need` bytes? Any continuation byte is enough to tell. */
static bool begins_sequence(const char *p, size_t n, size_t need)
{
	char whole[4];
	uint32_t c;

	memcpy(whole, p, n);
	memset(whole + n, 0x80, need - n);
	if (utf8_next((struct text){whole, need}, &c) == need)
		return true;
	memset(whole + n, 0xbf, need - n);
	return utf8_next((struct text){whole, need}, &c) == need;
}

/* Bytes at the end of t that 1-3 more would complete to a UTF-8 sequence. */
static size_t incomplete_tail(struct text t)
{
	for (size_t n = 1; n <= CHUNKER_HELD_MAX && n <= t.len; n++) {
		const char *p = t.p + t.len - n;
		unsigned char lead = (unsigned char)*p;
		if ((lead & 0xc0) == 0x80)
			continue;
		size_t need = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
		return need > n && begins_sequence(p, n, need) ? n : 0;
	}
	return 0;
}

/* The same for the first `n` bytes of what is held and `rest`, one after the other. */
static size_t incomplete_at(const struct chunker *c, struct text rest, size_t n)
{
	char tail[CHUNKER_HELD_MAX];
	size_t from = n > sizeof(tail) ? n - sizeof(tail) : 0;

	for (size_t i = from; i < n; i++)
		tail[i - from] = i < c->n_held ? c->held[i] : rest.p[i - c->n_held];
	return incomplete_tail((struct text){tail, n - from});
}

static void hold(struct chunker *c, struct text t)
{
	memcpy(c->held + c->n_held, t.p, t.len);
	c->n_held += t.len;
}

bool chunker_next(struct chunker *c, struct text *rest, struct text parts[2])
{
	size_t total = c->n_held + rest->len;
	size_t take = total < LOG_PAYLOAD_MAX ? total : LOG_PAYLOAD_MAX;

	if (rest->len == 0)
		return false;
	size_t waiting = incomplete_at(c, *rest, take), payload = take - waiting;
	if (payload == 0) {
		hold(c, *rest);
		*rest = text_after(*rest, rest->len);
		return false;
	}
	memcpy(c->out, c->held, c->n_held);
	parts[0] = (struct text){c->out, c->n_held};
	parts[1] = (struct text){rest->p, payload - c->n_held};
	*rest = text_after(*rest, payload - c->n_held);
	c->n_held = 0;
	if (take == total) {
		hold(c, *rest);
		*rest = text_after(*rest, rest->len);
	}
	return true;
}

bool chunker_flush(struct chunker *c, struct text *ret)
{
	if (c->n_held == 0)
		return false;
	memcpy(c->out, c->held, c->n_held);
	*ret = (struct text){c->out, c->n_held};
	c->n_held = 0;
	return true;
}
