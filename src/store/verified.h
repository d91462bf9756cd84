/*
 * Table `verified`: signatures that cosign has verified (image-trust.md §8.3). Only successes are
 * kept; one is worth VERIFIED_SECONDS of the boot it was made in.
 */
#pragma once

#include <stdint.h>

#include "base/error.h"

struct store;

enum { VERIFIED_SECONDS = 3600, VERIFIED_ROWS_MAX = 1024 };

struct verified {
	const char *fingerprint; /* image/fingerprint.h */
	const char *reference;   /* canonical */
	const char *boot_id;     /* of now, clock_boot_id() */
	int64_t boottime_ms;     /* now */
};

/* The positive outcome of verified_find(). */
enum { VERIFIED_UNKNOWN = 1 };

/* 0: verified in this boot, less than VERIFIED_SECONDS ago. VERIFIED_UNKNOWN. -1: of the store. */
must_check int verified_find(struct store *s, const struct verified *v, struct error *err);
/* Keeps a success; of more than VERIFIED_ROWS_MAX the oldest go. */
must_check int verified_add(struct store *s, const struct verified *v, struct error *err);
