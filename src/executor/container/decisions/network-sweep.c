#include "executor/container/decisions/network-sweep.h"

#include "base/num.h"
#include "net/nft-listing.h"

bool network_sweep_removes(const struct network_sweep_input *in)
{
	int64_t created, age;

	if (!text_is(in->managed, "true") || in->home.len == 0 ||
		!text_equal(in->home, in->my_home) || in->used || in->run_live)
		return false;
	return num_parse_rfc3339(in->created, &created) &&
	       !__builtin_sub_overflow(in->now_ns, created, &age) &&
	       age >= (int64_t)NETWORK_SWEEP_AGE_S * 1000000000;
}

bool network_sweep_removes_table(struct text comment, struct text my_home, bool there)
{
	struct text home, network;

	return !there && nft_listing_owner(comment, &home, &network) && my_home.len > 0 &&
	       text_equal(home, my_home);
}

bool network_sweep_another_home(struct text comment, struct text my_home)
{
	struct text home, network;

	return nft_listing_owner(comment, &home, &network) && !text_equal(home, my_home);
}
