#include "sys/program.h"

#include <string.h>

#include "base/mem.h"
#include "sys/env.h"
#include "sys/file.h"

/* Where a program may lie, seen from the folder of the running one: cloop, or one of libexec. */
static const char *const folders[] = {"", "/../libexec/cloop", "/../../bin"};

static char *set_folder; /* NULL = looked for from the running program on */

void program_set_folder(const char *folder)
{
	mem_set_string(&set_folder, folder ? folder : CLOOP_LIBEXEC);
}

char *program_path(const char *name)
{
	if (set_folder)
		return mem_printf("%s/%s", set_folder, name);
	auto_free char *self = file_resolve("/proc/self/exe");
	const char *part = strncmp(name, "cloop-", 6) == 0 ? name + 6 : "cli";
	char *slash = self ? strrchr(self, '/') : NULL;

	if (slash) {
		*slash = '\0';
		for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
			auto_free char *path = mem_printf("%s%s/%s", self, folders[i], name);
			if (access(path, R_OK) == 0)
				return TAKE_PTR(path);
		}
		auto_free char *built = mem_printf("%s/../%s/%s", self, part, name);
		if (access(built, R_OK) == 0)
			return TAKE_PTR(built);
	}
	return mem_printf("%s/%s", CLOOP_LIBEXEC, name);
}

void program_environment(struct strv *env)
{
	static const char *const names[] = {
		"PATH", "HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME", "ASAN_OPTIONS"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (env_get(names[i]))
			strv_addf(env, "%s=%s", names[i], env_get(names[i]));
}
