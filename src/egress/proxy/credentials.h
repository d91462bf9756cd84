/* `Proxy-Authorization: Basic base64(ID:TOKEN)` (network.md §13.1). Pure. */
#pragma once

#include "egress/session.h"

enum { CREDENTIALS_VALUE_MAX = 1024, CREDENTIALS_TOKEN_DIGITS = 64 };

struct credentials {
	char id[EGRESS_SESSION_ID_SIZE];
	char digest[SHA256_HEX_SIZE]; /* of the token */
};

/* False: it is of no session and no token. Keeps nothing of the token. */
bool credentials_read(struct text value, struct credentials *ret);
/* In a time that does not tell where they differ. */
bool credentials_equal(const char a[SHA256_HEX_SIZE], const char b[SHA256_HEX_SIZE]);
