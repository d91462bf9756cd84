/* Which networks and tables that carry our home are left over (network.md §9.7). Pure. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

enum { NETWORK_SWEEP_AGE_S = 600 };

struct network_sweep_input {
	struct text managed, home; /* labels cloop.*; p = NULL: it has none */
	struct text created;       /* RFC 3339 */
	struct text my_home;
	bool used;     /* a container is on it, running or not */
	bool run_live; /* its run's: not final, or its supervisor is at work */
	int64_t now_ns;
};
bool network_sweep_removes(const struct network_sweep_input *in);

/* A table by its comment; `there`: its network is, or a live run says that it has it. */
bool network_sweep_removes_table(struct text comment, struct text my_home, bool there);
/* A table of ours whose comment names another home. */
bool network_sweep_another_home(struct text comment, struct text my_home);
