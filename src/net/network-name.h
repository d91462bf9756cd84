/* What sandbox networks and their tables are called (network.md §9.1). Pure. */
#pragma once

#include <stdint.h>

#include "base/text.h"

#define NETWORK_NAME_PREFIX "cloop-sbx-"
#define NETWORK_TABLE_PREFIX "cloop_sbx_"

enum {
	NETWORK_NAME_SIZE = 80,
	NETWORK_TABLE_SIZE = 32,
};

/* Of an executor; with a handle, of that run (p = NULL: none). No two are the same. */
void network_name(struct text executor_id, struct text handle, char out[NETWORK_NAME_SIZE]);
/* The nft table of a network. */
void network_name_table(const char *network, char out[NETWORK_TABLE_SIZE]);
/* Where the search for its subnet begins: the first four bytes of the hash (§9.2 step 1). */
uint32_t network_name_seed(const char *network);
