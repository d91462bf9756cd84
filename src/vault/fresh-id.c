#include "vault/fresh-id.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/text.h"

int fresh_id(const char *prefix, char *out, size_t size, struct error *err)
{
	unsigned char random[FRESH_ID_DIGITS / 2];
	size_t len = strlen(prefix);

	assert(len + FRESH_ID_DIGITS < size);
	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return error_set_errno(err, ERROR_IO, errno, "getting random bytes");
	snprintf(out, size, "%s", prefix);
	hex_encode(random, sizeof(random), out + len);
	return 0;
}
