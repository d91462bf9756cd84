#include "vault/passphrase.h"

#include "sys/env.h"
#include "vault/locked.h"

#define VARIABLE "CLOOP_SECRET_KEY"

static struct locked taken;

void passphrase_take(void)
{
	const char *value = env_get(VARIABLE);

	locked_done(&taken);
	if (value) {
		locked_process();
		locked_copy(&taken, text_of(value));
	}
	env_forget(VARIABLE);
}

struct text passphrase_text(void)
{
	return locked_text(&taken);
}
