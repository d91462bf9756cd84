/* Seconds since 1970 as they are told: RFC 3339 UTC, or null for 0, which means never or none. */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "base/cleanup.h"

must_check json_t *time_json(int64_t seconds);
