#include "sys/program.h"

#include <string.h>

#include "base/mem.h"
#include "sys/file.h"

#ifndef CLOOP_LIBEXEC
#define CLOOP_LIBEXEC "/usr/libexec/cloop"
#endif

char *program_path(const char *name)
{
	auto_free char *self = file_resolve("/proc/self/exe");
	const char *part = strncmp(name, "cloop-", 6) == 0 ? name + 6 : name;
	char *slash = self ? strrchr(self, '/') : NULL;

	if (slash) {
		*slash = '\0';
		char *beside = mem_printf("%s/%s", self, name);
		if (access(beside, R_OK) == 0)
			return beside;
		free(beside);
		char *built = mem_printf("%s/../%s/%s", self, part, name);
		if (access(built, R_OK) == 0)
			return built;
		free(built);
	}
	return mem_printf("%s/%s", CLOOP_LIBEXEC, name);
}
