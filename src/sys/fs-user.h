/*
 * Working on files as another user: what is made then is his at birth, and the kernel lets us do no
 * more than he could. For trees that somebody else can rename things in, where a chown afterwards
 * could be led to another file. Of the calling thread.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct fs_user {
	bool changed;
};
#define FS_USER_INIT ((struct fs_user){false})

/*
 * From here to fs_user_done(); descriptors that are open stay what they are. Without root only
 * ourselves: anybody else is left alone, and files are ours (0, nothing changed).
 */
must_check int fs_user_become(struct fs_user *u, uid_t uid, gid_t gid, struct error *err);
void fs_user_done(struct fs_user *u);
