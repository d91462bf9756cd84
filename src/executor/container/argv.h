/*
 * The engine's command line: the security boundary (container-driver.md §6). One pure function from
 * a decided run to the exact words, in the exact order, and to everything that travels beside them.
 */
#pragma once

#include "base/strv.h"
#include "executor/container/environment.h"
#include "executor/container/mounts.h"
#include "executor/container/options.h"
#include "executor/container/request.h"
#include "executor/container/runtime.h"

/* The numbers on the line: what §9.5 looks for in the control groups. */
struct argv_limits {
	uint64_t cpu_millis; /* 0 = none; as clamped by §6.3 */
	uint64_t memory_mb;  /* 0 = none */
	int64_t pids;        /* -1 = none; the init is counted in */
};

struct argv_line {
	struct strv argv;            /* argv[0] is the engine's name */
	bool standalone;             /* `create`, started later (§9.2); else `run --detach` */
	char name[64];               /* of the container */
	struct argv_limits limits;   /* as on the line */
	struct mount_list mounts;    /* as on the line, in its order: what §9.3 compares */
	struct environment_plan env; /* what the client's environment and env file carry */
};
#define ARGV_LINE_INIT ((struct argv_line){0})
void argv_line_done(struct argv_line *l);

/*
 * Builds the line of a run (§6.2). `options` are normalized; the engine-specific extras, the OCI
 * runtime's name and the network word are judged again. The client gets the words of ret->argv, the
 * variables of environment_plan_add_client() in its environment, and ret->env.file as descriptor 3
 * when it is not empty. Errors: the first in the order of §6.5. *ret must be empty; it is filled on
 * success only.
 */
must_check int argv_build(const struct runtime *runtime, const struct container_options *options,
	const struct container_request *request, const struct request_host *host,
	struct argv_line *ret, struct error *err);

/* `--cpus` for an amount of CPU on a host with so many of them (§6.3). */
void argv_cpus_text(uint64_t cpu_millis, unsigned host_cpus, char out[32]);
