#include "sys/fs-user.h"

#include <stdlib.h>
#include <sys/fsuid.h>

enum { NOBODY = -1 };

/* setfsuid() has no way to fail but not to do it. */
static bool is_now(uid_t uid, gid_t gid)
{
	return (uid_t)setfsuid((uid_t)NOBODY) == uid && (gid_t)setfsgid((gid_t)NOBODY) == gid;
}

int fs_user_become(struct fs_user *u, uid_t uid, gid_t gid, struct error *err)
{
	*u = FS_USER_INIT;
	if (geteuid() != 0 || uid == 0)
		return 0;
	u->changed = true;
	setfsgid(gid);
	setfsuid(uid);
	if (is_now(uid, gid))
		return 0;
	fs_user_done(u);
	return error_set(err, ERROR_IO, "files cannot be written as user %u", (unsigned)uid);
}

void fs_user_done(struct fs_user *u)
{
	if (!u->changed)
		return;
	u->changed = false;
	setfsuid(geteuid());
	setfsgid(getegid());
	/* To go on as somebody else would be worse than any file. */
	if (!is_now(geteuid(), getegid()))
		abort();
}
