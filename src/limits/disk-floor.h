/* The free-space floor of one filesystem (disk-and-secrets.md §11). Pure. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct disk_floor {
	uint64_t floor_mb; /* 0 = off */
	bool paused;
};

/* 0, or 64 … 1,048,576. */
bool disk_floor_valid(int64_t mb);
/* From this much free space on, MB, what was paused goes on. */
uint64_t disk_floor_resume_mb(uint64_t floor_mb);
/* Takes a reading in, in MB; below 0: it failed, and nothing changes. True: the state changed. */
bool disk_floor_step(struct disk_floor *f, int64_t free_mb);
