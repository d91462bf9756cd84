/*
 * cloop's home: where runs live, and the folder of their control sockets (ARCHITECTURE.md §3).
 * Any number of homes may share a machine and an engine; they are strangers to each other.
 */
#pragma once

#include "base/error.h"

enum { HOME_ID_SIZE = 17 };

struct home {
	char *path;            /* resolved, absolute */
	int fd;                /* the home itself */
	int runs_fd;           /* <home>/runs */
	char id[HOME_ID_SIZE]; /* 16 lower-case hex digits, random, made once (container-driver.md
				  §2) */
	char *sockets;         /* folder of control sockets and start slots */
	int sockets_fd;
};
#define HOME_INIT ((struct home){.fd = -1, .runs_fd = -1, .sockets_fd = -1})
void home_done(struct home *h);

/*
 * Opens the home, making what is missing (0700). There is no default here: a path that is not known
 * must not mean another home. Sockets: /run/cloop for root, $XDG_RUNTIME_DIR/cloop, else
 * <home>/sockets. home_unusable when a directory cannot be made, does
 * not belong to us, or may be written by others.
 */
must_check int home_open(const char *path, struct home *ret, struct error *err);
/* The folder of the sockets anew, where it may have gone, as a login's. -1: nothing changed. */
must_check int home_reopen_sockets(struct home *h, struct error *err);
/*
 * Opens the folder of the sockets of a home that may not be open: all homes of a user have the same
 * one, and so do those of an engine (but <home>/sockets). -1: home_unusable, io.
 */
must_check int home_open_shared(const char *path, int *ret_fd, struct error *err);
/* The user's home directory: HOME, else the password database; caller frees. "" when unknown. */
must_check char *home_of_user(void);
/* The same without links and superfluous slashes, where there is such a directory. */
must_check char *home_of_user_resolved(void);
