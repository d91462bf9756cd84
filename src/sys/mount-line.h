/* A line of /proc/PID/mountinfo (proc(5)). Pure; text of any bytes is judged. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "base/text.h"

/* Views into the line; root and target with the kernel's octal escapes as they are. */
struct mount_line {
	uint64_t id;
	struct text device;  /* field 3: MAJOR:MINOR of the filesystem */
	struct text root;    /* field 4: what of the filesystem is mounted */
	struct text target;  /* field 5 */
	struct text options; /* field 6: of the mount */
	struct text type;    /* the three behind " - " */
	struct text source;
	struct text super; /* options of the filesystem */
};

/* The next line of *rest (begin with the whole text) that is of the format; false at the end. */
bool mount_line_next(struct text *rest, struct mount_line *ret);
/* False for a line that is not of the format. No line break in it. */
bool mount_line_parse(struct text line, struct mount_line *ret);
/* Appends root or target with \ooo decoded. */
void mount_line_unescape(struct str *out, struct text field);
/* The comma-separated list has the word. */
bool mount_line_has(struct text options, const char *word);
