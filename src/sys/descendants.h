/*
 * Processes below another one, as /proc shows them: for ending what a child started elsewhere (in
 * sessions of their own, or as orphans that a subreaper got). A list is a snapshot.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct descendant {
	pid_t pid, parent, session;
};

struct descendants {
	struct descendant *v;
	size_t n;
};
#define DESCENDANTS_INIT ((struct descendants){.v = NULL})
void descendants_done(struct descendants *d);

/* Everything below `root` (<= 0: nothing), parents before their children; *ret is replaced. */
void descendants_find(pid_t root, struct descendants *ret);
/* Every process, below us or not, whose command line has that word; *ret is replaced. */
void descendants_with_word(const char *word, struct descendants *ret);
void descendants_add(struct descendants *d, struct descendant p);
bool descendants_have(const struct descendants *d, pid_t pid);
bool descendants_have_session(const struct descendants *d, pid_t session);
/* It has a pid namespace below ours, as a container's processes do. False when it is gone. */
bool descendant_contained(const struct descendant *p);
/* If the number still names the process that was found: 0; -1 with errno (ESRCH: it is gone). */
int descendant_signal(const struct descendant *p, int signal);
void descendant_kill(const struct descendant *p);
