/* Gives the frames of a segment, whose lengths fit, what libFuzzer would not find. */
#pragma once

#include <endian.h>
#include <libdeflate.h>
#include <stdint.h>
#include <string.h>

#include "executor/runlog/log-format.h"

static inline void log_mend_number(char *at, uint64_t n)
{
	uint64_t le = htole64(n);

	memcpy(at, &le, sizeof(le));
}

static inline uint32_t log_mend_length(const char *frame)
{
	uint32_t le;

	memcpy(&le, frame, sizeof(le));
	return le32toh(le);
}

/* The checksum that each needs, and with `seq` > 0 the next number. */
static inline void log_mend(char *segment, size_t size, uint64_t seq)
{
	size_t at = LOG_HEADER_SIZE;

	while (at + LOG_FRAME_SIZE <= size) {
		char *frame = segment + at;
		uint32_t length = log_mend_length(frame);
		if (length > size - at - LOG_FRAME_SIZE)
			return;
		if (seq > 0)
			log_mend_number(frame + 8, seq++);
		uint32_t crc = libdeflate_crc32(0, frame, LOG_FRAME_SIZE - 4);
		crc = libdeflate_crc32(crc, frame + LOG_FRAME_SIZE, length);
		uint32_t le = htole32(crc);
		memcpy(frame + LOG_FRAME_SIZE - 4, &le, sizeof(le));
		at += LOG_FRAME_SIZE + length;
	}
}
