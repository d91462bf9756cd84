/*
 * The steps that give an interface to a sandbox and take it back, as words for `ip`
 * (container-driver.md §17.2). Pure.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/strv.h"
#include "executor/container/plan-hardware.h"

enum { IP_WORDS_MAX = 16 };

struct ip_step {
	const char *what;  /* a word for messages and fault points: "down", "move" … */
	bool inside;       /* in the sandbox's network namespace, else in ours */
	struct strv words; /* behind `ip`; STRV_INIT(IP_WORDS_MAX) before */
};
#define IP_STEP_INIT ((struct ip_step){.words = STRV_INIT(IP_WORDS_MAX)})
void ip_step_done(struct ip_step *s);

/*
 * The n-th step (from 0) of giving it to the namespace of process `pid`: down, move, then inside
 * mtu, address, up, route, as far as it has them. False: there are no more. It gets its new name by
 * the move: its old one may be another's inside.
 */
must_check bool ip_line_give(
	const struct plan_interface *i, pid_t pid, unsigned n, struct ip_step *ret);

/* An interface on its way back. */
struct ip_return {
	const char *now;   /* what it is called where it is */
	const char *way;   /* a name that nothing else has, for the way */
	const char *name;  /* what it was called */
	unsigned long mtu; /* what it had */
	bool up;
	pid_t pid; /* a process in our namespace */
};
/* Inside: flush, down, move under the name `way`. */
must_check bool ip_line_take(const struct ip_return *r, unsigned n, struct ip_step *ret);
/* Here: down, rename from `now` to `name` if they differ, mtu, up if it was. */
must_check bool ip_line_restore(const struct ip_return *r, unsigned n, struct ip_step *ret);
