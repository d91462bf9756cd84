#include "trust/reap.h"

#include <dirent.h>
#include <fcntl.h>

#include "base/text.h"
#include "image/cosign-logins.h"
#include "sys/file.h"
#include "sys/lockfile.h"
#include "trust/verify.h"

/* Whoever waited for it finds that the file has lost its name, and makes another. */
static int reap_lock(int locks, const char *name, struct error *err)
{
	auto_fd int held = -1;
	int r = lockfile_try(locks, name, &held, err);

	if (r == 0)
		unlinkat(locks, name, 0);
	return r < 0 ? -1 : 0;
}

static int reap_locks(int locks, struct error *err)
{
	auto_fd int copy = openat(locks, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;
	int result = 0;

	if (!dir)
		return 0;
	copy = -1;
	while (result == 0 && (entry = readdir(dir)))
		if (text_starts(text_of(entry->d_name), TRUST_LOCK_PREFIX))
			result = reap_lock(locks, entry->d_name, err);
	closedir(dir);
	return result;
}

int trust_reap(const char *home, struct error *err)
{
	auto_error struct error none = ERROR_INIT;
	auto_fd int locks = file_open_folder(home, "locks", false, &none);

	cosign_logins_sweep();
	return locks < 0 ? 0 : reap_locks(locks, err);
}
