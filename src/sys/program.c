#include "sys/program.h"

#include <limits.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "sys/env.h"

/* Where a program may lie, seen from the folder of the running one: cloop, or one of libexec. */
static const char *const folders[] = {"", "/../libexec/cloop", "/../../bin"};

/* NULL = that of the running program. Never freed, since another thread may be at it. */
static _Atomic(char *) set_folder;

void program_set_folder(const char *folder)
{
	const char *now = folder ? folder : CLOOP_LIBEXEC, *before = atomic_load(&set_folder);

	if (!before || strcmp(before, now) != 0)
		atomic_store(&set_folder, mem_strdup(now));
}

/*
 * The folder from which programs are looked for; caller frees. An upgrade replaces the file of a
 * program that goes on: its link then names none, but the folder is where the new ones are.
 */
static char *folder_of_self(void)
{
	char link[PATH_MAX];
	const char *set = atomic_load(&set_folder);

	if (set)
		return mem_strdup(set);
	ssize_t n = readlink("/proc/self/exe", link, sizeof(link));
	const char *slash = n > 0 ? memrchr(link, '/', (size_t)n) : NULL;
	return slash ? mem_strndup(link, (size_t)(slash - link)) : NULL;
}

char *program_path(const char *name)
{
	auto_free char *self = folder_of_self();
	const char *part = strncmp(name, "cloop-", 6) == 0 ? name + 6 : "cli";

	if (self) {
		for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
			auto_free char *path = mem_printf("%s%s/%s", self, folders[i], name);
			if (access(path, R_OK) == 0)
				return TAKE_PTR(path);
		}
		auto_free char *built = mem_printf("%s/../%s/%s", self, part, name);
		if (access(built, R_OK) == 0)
			return TAKE_PTR(built);
	}
	const char *set = atomic_load(&set_folder);
	return mem_printf("%s/%s", set ? set : CLOOP_LIBEXEC, name);
}

void program_environment(struct strv *env)
{
	static const char *const names[] = {
		"PATH", "HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME", "ASAN_OPTIONS"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (env_get(names[i]))
			strv_addf(env, "%s=%s", names[i], env_get(names[i]));
}
