/* Mutations of JSON in a frame of the control socket: behind a length that is kept true. */
#pragma once

#include <endian.h>
#include <stdint.h>
#include <string.h>

static void json_frame_fix(uint8_t *data, size_t end)
{
	uint32_t le = htole32((uint32_t)(end - sizeof(le)));

	memcpy(data, &le, sizeof(le));
}

#define JSON_AT(data, size) sizeof(uint32_t)
#define JSON_FIX(data, end) json_frame_fix(data, end)
#include "json-mutate.h"
