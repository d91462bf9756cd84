#include "executor/container/driver/host-facts.h"

#include <fcntl.h>
#include <pwd.h>
#include <unistd.h>

#include "base/mem.h"
#include "sys/file.h"

enum { RANGES_MAX = 1 << 20 };

static bool file_has_range(const char *path, const char *by_name, const char *by_id)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(str) bytes = STR_INIT(RANGES_MAX);
	struct text rest, line;

	if (file_read(path, RANGES_MAX - 1, &bytes, &err) < 0)
		return false;
	rest = (struct text){str_text(&bytes), bytes.len};
	while (text_split(&rest, '\n', &line))
		if (text_starts(line, by_id) || (by_name && text_starts(line, by_name)))
			return true;
	return false;
}

bool host_facts_subids(void)
{
	const struct passwd *user = getpwuid(geteuid());
	auto_free char *by_name = user ? mem_printf("%s:", user->pw_name) : NULL;
	auto_free char *by_id = mem_printf("%u:", geteuid());

	return file_has_range("/etc/subuid", by_name, by_id) &&
	       file_has_range("/etc/subgid", by_name, by_id) &&
	       access("/usr/bin/newuidmap", X_OK) == 0;
}

bool host_facts_selinux(void)
{
	AUTO(str) text = STR_INIT(16);

	return file_read_at(AT_FDCWD, "/sys/fs/selinux/enforce", 15, &text) == 0 &&
	       str_text(&text)[0] == '1';
}
