/*
 * The bytes of a YAML text, before any parser sees them (sandbox-spec.md §3.1): UTF-8, LF or CRLF,
 * nothing invisible. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "yaml/problem.h"

/* Length of the one byte order mark that may start a text: 0 or 3. */
size_t bytes_mark_length(struct text t);

/* The first fault in byte order: its code and place; PROBLEM_NONE if there is none. */
enum problem_code bytes_check(struct text t, struct position *ret_at);

/* Is the character refused in a text: control (TAB, LF and CR are not), bidirectional, U+FEFF…? */
bool bytes_refused_char(uint32_t c);
/* Does decoded text (an escape can bring in anything) hold such a character, or a line break? */
bool bytes_has_refused(struct text t);

/* What is wrong, for a message. */
const char *bytes_fault_text(enum problem_code code);
