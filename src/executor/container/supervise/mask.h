/* What a run's output, notes and errors must not show (container-driver.md §12). */
#pragma once

#include "base/error.h"
#include "base/str.h"
#include "base/strv.h"
#include "base/text.h"

struct supervisor;

/* One more value; one that is too short to be masked is counted. */
must_check int mask_value(struct supervisor *s, struct text value, struct error *err);
/* The values of those entries whose names the plan lists. */
must_check int mask_variables(
	struct supervisor *s, const struct strv *environment, struct error *err);
/* Says at the start how many values were too short. */
void mask_note(struct supervisor *s);

/* Words of somebody else, before anything is cut off or escaped; the caller's. */
must_check char *mask_words(struct supervisor *s, struct text words);
/* Message and remedy, in place. */
void mask_error(struct supervisor *s, struct error *err);
