/* What sandbox networks and their tables are called (network.md §9.1). Pure. */
#pragma once

#include "base/text.h"

enum {
	NETWORK_NAME_SIZE = 80,
	NETWORK_TABLE_SIZE = 32,
};

/* Of an executor; with a handle, of that run (p = NULL: none). No two are the same. */
void network_name(struct text executor_id, struct text handle, char out[NETWORK_NAME_SIZE]);
/* The nft table of a network. */
void network_name_table(const char *network, char out[NETWORK_TABLE_SIZE]);
