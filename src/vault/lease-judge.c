#include "vault/lease-judge.h"

#include "base/enum-text.h"

static const char *const names[] = {
	[LEASE_GRANTED] = "ok",
	[LEASE_REVOKED] = "revoked",
	[LEASE_EXPIRED] = "expired",
	[LEASE_CONSTRAINT] = "constraint",
};
ENUM_TEXT(lease_verdict, names, LEASE_VERDICT_COUNT)

enum lease_verdict lease_judge_grant(const struct lease_grant *g, int64_t now)
{
	if (g->revoked)
		return LEASE_REVOKED;
	if (g->expires_at <= now)
		return LEASE_EXPIRED;
	return g->fails ? LEASE_CONSTRAINT : LEASE_GRANTED;
}

static int64_t window_end(struct lease_clock c, int64_t hard_end)
{
	return c.now + c.window < hard_end ? c.now + c.window : hard_end;
}

void lease_judge(const struct lease_grant *g, size_t n, struct lease_clock clock,
	enum lease_verdict *verdicts, struct lease_life *ret)
{
	struct lease_life life = {LEASE_NEVER, LEASE_NEVER};
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		verdicts[i] = lease_judge_grant(&g[i], clock.now);
		if (verdicts[i] != LEASE_GRANTED)
			continue;
		any = true;
		if (g[i].expires_at < life.hard_end)
			life.hard_end = g[i].expires_at;
	}
	if (any)
		life.expires_at = window_end(clock, life.hard_end);
	*ret = life;
}

int64_t lease_judge_extended(const struct lease_life *l, struct lease_clock clock)
{
	int64_t end = window_end(clock, l->hard_end);

	return end > l->expires_at ? end : l->expires_at;
}
