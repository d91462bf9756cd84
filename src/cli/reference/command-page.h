/* docs/reference/commands.md: the verb table. */
#pragma once

#include "base/str.h"

void command_page(struct str *out);
