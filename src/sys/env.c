#include "sys/env.h"

#include <stdlib.h>
#include <string.h>

/* The one home of getenv: base/banned.h forbids it everywhere else. */
#undef getenv

const char *env_value(const char *name)
{
	return getenv(name);
}

const char *env_get(const char *name)
{
	const char *value = getenv(name);

	return value && value[0] ? value : NULL;
}

void env_forget(const char *name)
{
	char *value = getenv(name);

	if (value)
		explicit_bzero(value, strlen(value));
	unsetenv(name);
}
