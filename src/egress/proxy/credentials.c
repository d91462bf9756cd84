#include "egress/proxy/credentials.h"

enum { PLAIN_SIZE = EGRESS_SESSION_ID_SIZE + CREDENTIALS_TOKEN_DIGITS };

static int value_of(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Exactly `n` bytes, padded as they must be. */
static bool decode(struct text t, unsigned char *out, size_t n)
{
	unsigned bits = 0, held = 0;
	size_t pad = (3 - n % 3) % 3, made = 0;

	if (t.len != (n + 2) / 3 * 4)
		return false;
	for (size_t i = 0; i < t.len - pad; i++) {
		int value = value_of(t.p[i]);
		if (value < 0)
			return false;
		held = held << 6 | (unsigned)value;
		bits += 6;
		if (bits < 8)
			continue;
		bits -= 8;
		out[made++] = (unsigned char)(held >> bits);
	}
	for (size_t i = t.len - pad; i < t.len; i++)
		if (t.p[i] != '=')
			return false;
	return made == n;
}

bool credentials_read(struct text value, struct credentials *ret)
{
	char plain[PLAIN_SIZE];
	struct text id = {plain, EGRESS_SESSION_ID_SIZE - 1},
		    token = {plain + EGRESS_SESSION_ID_SIZE, CREDENTIALS_TOKEN_DIGITS};

	if (value.len > CREDENTIALS_VALUE_MAX || !text_starts_nocase(value, "basic "))
		return false;
	value = text_trim_line(text_after(value, 6));
	bool good = decode(value, (unsigned char *)plain, sizeof(plain)) && plain[id.len] == ':' &&
		    egress_session_id_valid(id) && text_is_hex(token, CREDENTIALS_TOKEN_DIGITS);
	if (good) {
		*ret = (struct credentials){.id = ""};
		memcpy(ret->id, id.p, id.len);
		sha256_hex(token, ret->digest);
	}
	explicit_bzero(plain, sizeof(plain));
	return good;
}

bool credentials_equal(const char a[SHA256_HEX_SIZE], const char b[SHA256_HEX_SIZE])
{
	unsigned char differ = 0;

	for (size_t i = 0; i < SHA256_HEX_SIZE; i++)
		differ |= (unsigned char)(a[i] ^ b[i]);
	return differ == 0;
}
