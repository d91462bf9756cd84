/*
 * cloop-egress: the egress proxy of a run, or of the hub. Started by its owner, never by hand.
 *     cloop-egress             control socket on descriptor 3, events on descriptor 4
 *     cloop-egress --resolve   a look-up helper of one (egress/proxy/resolver.h)
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "egress/proxy/privileges.h"
#include "egress/proxy/proxy.h"
#include "egress/proxy/resolver.h"
#include "sys/log.h"

enum { CONTROL_FD = 3, EVENTS_FD = 4 };

/* Two descriptors a connection: as many as we may have. */
static void raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static bool started_by_owner(void)
{
	socklen_t size = sizeof(int);
	int type = 0;

	return getsockopt(CONTROL_FD, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
	       type == SOCK_SEQPACKET;
}

int main(int argc, char **argv)
{
	auto_error struct error err = ERROR_INIT;

	if (argc == 2 && strcmp(argv[1], RESOLVER_HELPER_ARGUMENT) == 0)
		return resolver_helper(RESOLVER_HELPER_FD);
	if (argc != 1 || !started_by_owner()) {
		fputs("cloop-egress: started by cloop, not by hand\n", stderr);
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	log_open("cloop-egress", LOG_LEVEL_INFO);
	raise_limit();
	struct proxy *p =
		privileges_drop(&err) < 0 ? NULL : proxy_new(CONTROL_FD, EVENTS_FD, NULL, &err);
	int r = p ? proxy_run(p, &err) : -1;
	proxy_free(p);
	if (r < 0)
		log_error("%s", err.message);
	return r < 0;
}
