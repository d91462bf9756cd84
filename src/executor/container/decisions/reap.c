#include "executor/container/decisions/reap.h"

#include "base/enum-text.h"
#include "base/num.h"

static const char *const verdict_names[] = {
	[REAP_KEEP] = "keep",
	[REAP_ADOPT] = "adopt",
	[REAP_REMOVE] = "remove",
	[REAP_REMOVE_RUNNING] = "remove_running",
};
ENUM_TEXT(reap_verdict, verdict_names, REAP_VERDICT_COUNT)

/* What the engine's word for a status means to us. */
enum phase { PHASE_NONE, PHASE_MADE, PHASE_LIVE, PHASE_ENDED };

static enum phase phase_of(struct text status)
{
	static const struct {
		const char *word;
		enum phase phase;
	} words[] = {
		{"exited", PHASE_ENDED},
		{"stopped", PHASE_ENDED},
		{"dead", PHASE_ENDED},
		{"created", PHASE_MADE},
		{"configured", PHASE_MADE},
		{"initialized", PHASE_MADE},
		{"running", PHASE_LIVE},
		{"paused", PHASE_LIVE},
		{"restarting", PHASE_LIVE},
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (text_is(status, words[i].word))
			return words[i].phase;
	return PHASE_NONE;
}

static bool old_enough(const struct reap_input *in, int64_t time_ns)
{
	int64_t age_ns, grace_ns;

	if (in->grace_seconds <= 0 ||
		__builtin_mul_overflow(in->grace_seconds, (int64_t)1000000000, &grace_ns) ||
		__builtin_sub_overflow(in->now_ns, time_ns, &age_ns))
		return false;
	return age_ns >= grace_ns;
}

static bool created_long_ago(const struct reap_input *in)
{
	int64_t created;

	return num_parse_rfc3339(in->created, &created) && old_enough(in, created);
}

static bool started_long_ago(const struct reap_input *in)
{
	int64_t started;

	if (!num_parse_rfc3339(in->started, &started))
		return created_long_ago(in);
	return old_enough(in, started);
}

static bool same(struct text label, struct text ours)
{
	return label.len > 0 && text_equal(label, ours);
}

/* A handle as container-driver.md §5.1 writes it. */
static bool handle_valid(struct text handle)
{
	return text_starts(handle, "c-") && text_is_hex(text_after(handle, 2), 12);
}

enum reap_verdict reap_decide(const struct reap_input *in)
{
	if (!text_is(in->managed, "true") || !same(in->home, in->my_home))
		return REAP_KEEP;
	if (in->run_known && !in->run_final)
		return in->shim_alive ? REAP_KEEP : REAP_ADOPT;
	enum phase phase = phase_of(in->status);
	if (phase == PHASE_NONE)
		return REAP_KEEP;
	if (in->run_known)
		return phase == PHASE_LIVE ? REAP_REMOVE_RUNNING : REAP_REMOVE;
	if (phase == PHASE_ENDED)
		return REAP_REMOVE;
	if (phase == PHASE_MADE)
		return created_long_ago(in) ? REAP_REMOVE : REAP_KEEP;
	if (!same(in->executor, in->my_executor) || !handle_valid(in->handle))
		return REAP_KEEP;
	return started_long_ago(in) ? REAP_REMOVE_RUNNING : REAP_KEEP;
}
