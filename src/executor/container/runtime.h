/*
 * The container engine: which program, where, and for whom (container-driver.md §4.1).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

enum engine { ENGINE_PODMAN, ENGINE_DOCKER, ENGINE_COUNT };
const char *engine_text(enum engine e);
int engine_from_text(struct text t);

struct runtime {
	enum engine engine;
	char *path;     /* absolute; owned */
	bool rootless;  /* podman and euid != 0 */
	char *endpoint; /* docker: "unix://…" once resolved (§4.2), else NULL; owned */
};
#define RUNTIME_INIT ((struct runtime){0})
void runtime_done(struct runtime *r);
/* For people: podman (rootless), podman, docker; <none> for NULL (§4.1). */
const char *runtime_text(const struct runtime *r);
/* docker's socket on this host, in the endpoint; NULL: it has none, or is not resolved. */
const char *runtime_socket(const struct runtime *r);
