#include "vault/two-clocks.h"

#include <stdbool.h>

/* A boot that says it is younger is not the same one. */
static bool same_boot(const struct two_clocks *begun, const struct two_clocks *now)
{
	return now->boot_id.len > 0 && text_equal(begun->boot_id, now->boot_id) &&
	       now->boottime_ms >= begun->boottime_ms;
}

int64_t two_clocks_end(const struct two_clocks *begun, int64_t end, const struct two_clocks *now)
{
	int64_t life = end > begun->realtime ? end - begun->realtime : 0;
	int64_t age = 0;

	if (same_boot(begun, now))
		age = (now->boottime_ms - begun->boottime_ms) / 1000;
	int64_t left = life > age ? life - age : 0;
	return now->realtime + left < end ? now->realtime + left : end;
}

int64_t two_clocks_left_ms(
	const struct two_clocks *begun, int64_t end, const struct two_clocks *now)
{
	if (!same_boot(begun, now))
		return (end - now->realtime) * 1000;
	return (end - begun->realtime) * 1000 - (now->boottime_ms - begun->boottime_ms);
}
