/* The process' environment; the only home of getenv. */
#pragma once

/* NULL when unset or empty. */
const char *env_get(const char *name);
/* NULL only when unset: for a variable whose value is passed on. */
const char *env_value(const char *name);
/*
 * Takes it out of the environment: the bytes of its value are overwritten where they lie (what
 * /proc/PID/environ shows), and no child gets it.
 */
void env_forget(const char *name);
