#include "limits/disk-floor.h"

#include "limits/ceiling.h"

bool disk_floor_valid(int64_t mb)
{
	return mb == 0 || (mb >= CEILING_MB_MIN && mb <= CEILING_MB_MAX);
}

uint64_t disk_floor_resume_mb(uint64_t floor_mb)
{
	return floor_mb + (floor_mb + 9) / 10;
}

bool disk_floor_step(struct disk_floor *f, int64_t free_mb)
{
	bool was = f->paused;
	uint64_t again = disk_floor_resume_mb(f->floor_mb);

	if (f->floor_mb == 0 || free_mb < 0)
		return false;
	f->paused = was ? (uint64_t)free_mb < again : (uint64_t)free_mb < f->floor_mb;
	return f->paused != was;
}
