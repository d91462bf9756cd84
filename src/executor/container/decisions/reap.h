/* What becomes of a container that carries our labels (container-driver.md §16.3). Pure. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

enum reap_verdict { REAP_KEEP, REAP_ADOPT, REAP_REMOVE, REAP_REMOVE_RUNNING, REAP_VERDICT_COUNT };
const char *reap_verdict_text(enum reap_verdict v);
int reap_verdict_from_text(struct text t);

struct reap_input {
	/* The container, in the engine's words; p = NULL: it has none. */
	struct text status;
	struct text managed, home, executor, handle; /* labels cloop.* */
	struct text created, started;                /* RFC 3339 */
	/* Us. */
	struct text my_executor, my_home;
	/* Its run directory in this home. */
	bool run_known;
	bool run_final;  /* the record is */
	bool shim_alive; /* lock held */
	int64_t now_ns;
	int64_t grace_seconds; /* <= 0: nothing is old enough */
};
enum reap_verdict reap_decide(const struct reap_input *in);
