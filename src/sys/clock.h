/* Time. Durations are measured on CLOCK_BOOTTIME; wall time is for people and records. */
#pragma once

#include <stddef.h>
#include <stdint.h>

int64_t clock_boottime_ms(void);
int64_t clock_boottime_us(void);
/*
 * The next full multiple of `every_ms` of boottime, for what is looked at again and again: those of
 * all processes fall together, and the processor wakes once for all of them.
 */
int64_t clock_next_ms(int64_t every_ms);
/* CPU time that the calling thread has taken. */
int64_t clock_thread_us(void);
int64_t clock_realtime_ns(void);
/* This boot's id (36 characters), read once; "" when it cannot be read. */
const char *clock_boot_id(void);
/* RFC 3339 UTC: "2026-08-23T04:07:51Z", or with 9 decimals. */
enum { CLOCK_TEXT_SIZE = 40 };
void clock_format(int64_t realtime_ns, char out[CLOCK_TEXT_SIZE]);
void clock_format_ns(int64_t realtime_ns, char out[CLOCK_TEXT_SIZE]);
void clock_sleep_ms(int64_t ms);
