/* `executors.egress` of the operator's configuration (network.md §12.2). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct egress_settings {
	bool enabled;
	char *listen_addr;    /* ADDRESS:PORT for executors on other machines; "" = none */
	char *advertise_addr; /* HOST[:PORT] that they dial; "" = none */
	uint64_t max_session_minutes;
	uint64_t dial_timeout_seconds;
	uint64_t default_max_bytes_up,
		default_max_bytes_down; /* where a grant says 0; 0: no limit */
	uint64_t max_connections;       /* of a session at a time */
};
