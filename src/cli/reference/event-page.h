/* docs/reference/events.md: rows of the audit trail and the journal, warnings of a record. */
#pragma once

#include "base/str.h"

void event_page(struct str *out);
