/*
 * cloop-shim: the supervisor of one run. Started by cloop, never by hand.
 *     cloop-shim --home DIR --start HANDLE     lock on descriptor 3, dispatcher on descriptor 4
 *     cloop-shim --home DIR --adopt HANDLE
 */
#include <stdio.h>
#include <string.h>

#include "executor/container/supervise/supervise.h"
#include "sys/log.h"

enum { LOCK_FD = 3, CALLER_FD = 4 };

int main(int argc, char **argv)
{
	log_open("cloop-shim", LOG_LEVEL_INFO);
	if (argc == 5 && strcmp(argv[1], "--home") == 0) {
		if (strcmp(argv[3], "--start") == 0)
			return supervise_start(argv[2], argv[4], LOCK_FD, CALLER_FD);
		if (strcmp(argv[3], "--adopt") == 0)
			return supervise_adopt(argv[2], argv[4]);
	}
	fputs("cloop-shim: started by cloop, not by hand\n", stderr);
	return 2;
}
