#include "cli/actor.h"

#include <pwd.h>

#include "base/mem.h"

char *actor_name(void)
{
	const struct passwd *entry = getpwuid(geteuid());

	return entry ? mem_strdup(entry->pw_name) : mem_printf("uid:%u", geteuid());
}
