#include "trust/reap.h"

#include <unistd.h>

#include "base/strv.h"
#include "image/cosign-logins.h"
#include "sys/file-list.h"
#include "sys/file.h"
#include "sys/lockfile.h"
#include "trust/verify.h"

/* The next one finds the others. */
enum { LOCKS_MAX = 20000 };

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
	AUTO(strv) names = STRV_INIT(LOCKS_MAX);

	file_list_at(locks, TRUST_LOCK_PREFIX, &names);
	strv_foreach (name, &names)
		if (reap_lock(locks, *name, err) < 0)
			return -1;
	return 0;
}

int trust_reap(const char *home, struct error *err)
{
	auto_error struct error none = ERROR_INIT;
	auto_fd int locks = file_open_folder(home, "locks", false, &none);

	cosign_logins_sweep();
	return locks < 0 ? 0 : reap_locks(locks, err);
}
