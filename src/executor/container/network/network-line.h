/* The lines of the engine for a run's network (network.md §9.2, §9.6, §9.7). Pure. */
#pragma once

#include "base/strv.h"
#include "executor/container/runtime.h"
#include "net/engine-network.h"
#include "net/subnet-choice.h"

enum { NETWORK_LINE_WORDS_MAX = 24 };

struct network_line {
	enum engine engine;
	const char *name, *home, *executor, *mode;
	const char *handle; /* NULL: of a shared network */
	bool internal;
};

/* How an engine writes of its networks. */
enum engine_network_kind network_line_kind(enum engine engine);

/* Words behind the engine's name, appended. */
void network_line_create(
	const struct network_line *l, const struct subnet *subnet, struct strv *ret);
void network_line_inspect(const char *name, struct strv *ret);
void network_line_remove(const char *name, struct strv *ret);
void network_line_disconnect(const char *name, const char *container, struct strv *ret);
/* Names of our home's networks, one a line. */
void network_line_list(const char *home, struct strv *ret);
/* Containers of a network, running or not. */
void network_line_users(const char *name, struct strv *ret);

/* What the engine answers when there is no such network (any more). */
bool network_line_says_unknown(struct text words);
/* … and when the subnet, not the network, is in the way: another one is worth a try. */
bool network_line_says_overlap(struct text words);
/* … and when a network of that name is there already. */
bool network_line_says_exists(struct text words);
