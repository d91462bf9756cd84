#include "vault/clocks-now.h"

#include "sys/clock.h"

enum { NS_PER_SECOND = 1000000000 };

struct two_clocks clocks_now(void)
{
	return (struct two_clocks){
		.realtime = clock_realtime_ns() / NS_PER_SECOND,
		.boottime_ms = clock_boottime_ms(),
		.boot_id = text_of(clock_boot_id()),
	};
}
