/*
 * Diagnostics on stderr: "cloop: warning: …", one line each, control characters escaped, at most
 * 2,048 bytes. The same text is written at most 5 times in 10 s; what was left out is counted in
 * the next line. Never used for a result or an error of a command (those go through cli).
 */
#pragma once

#include "base/cleanup.h"

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* Program name in front, and the least important level that is written. */
void log_open(const char *program, enum log_level threshold);
/* Where lines go; default 2. -1 drops them. */
void log_set_fd(int fd);
void log_warning(const char *fmt, ...) printf_like(1, 2);
void log_info(const char *fmt, ...) printf_like(1, 2);
void log_debug(const char *fmt, ...) printf_like(1, 2);
void log_error(const char *fmt, ...) printf_like(1, 2);
