#include "vault/two-clocks.h"

int64_t two_clocks_end(const struct two_clocks *begun, int64_t end, const struct two_clocks *now)
{
	int64_t life = end > begun->realtime ? end - begun->realtime : 0;
	int64_t age = 0;

	if (now->boot_id.len > 0 && text_equal(begun->boot_id, now->boot_id) &&
		now->boottime_ms > begun->boottime_ms)
		age = (now->boottime_ms - begun->boottime_ms) / 1000;
	int64_t left = life > age ? life - age : 0;
	return now->realtime + left < end ? now->realtime + left : end;
}
