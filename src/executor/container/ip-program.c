#include "executor/container/ip-program.h"

#include <stddef.h>
#include <unistd.h>

#include "base/cleanup.h"

static const char *first_of(const char *const *places, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (access(places[i], X_OK) == 0)
			return places[i];
	return NULL;
}

const char *ip_program_ip(void)
{
	static const char *const places[] = {"/usr/sbin/ip", "/usr/bin/ip", "/sbin/ip", "/bin/ip"};

	return first_of(places, ARRAY_SIZE(places));
}

const char *ip_program_nsenter(void)
{
	static const char *const places[] = {"/usr/bin/nsenter", "/bin/nsenter"};

	return first_of(places, ARRAY_SIZE(places));
}
