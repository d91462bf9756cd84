/* The process' environment; the only home of getenv. */
#pragma once

/* NULL when unset or empty. */
const char *env_get(const char *name);
