/* Completion scripts from the verb table; texts only. */
#pragma once

#include "base/str.h"
#include "base/text.h"

/* The shells there is a script for: "bash zsh fish". */
#define COMPLETION_SHELLS "bash zsh fish"

/* Appends the script; -1 when there is none for that shell. */
must_check int completion_script(struct str *out, struct text shell);
