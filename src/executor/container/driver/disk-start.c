#include "executor/container/driver/disk-start.h"

#include <poll.h>
#include <string.h>
#include <sys/stat.h>

#include "executor/container/disk-measure.h"
#include "limits/disk-breach.h"
#include "limits/disk-limit.h"
#include "limits/render.h"
#include "sys/clock.h"

enum { STATE_MS = 10000, ALL_MS = 30000 };

static bool cancelled(void *data)
{
	struct pollfd p = {.fd = *(const int *)data, .events = POLLIN};

	return poll(&p, 1, 0) > 0;
}

static int refuse(
	const struct project *project, const struct plan_disk *d, uint64_t bytes, struct error *err)
{
	auto_free char *limit = render_mb(d->limit_mb);

	error_set(err, ERROR_WORKSPACE_OVER_DISK_LIMIT,
		"refusing to start: the workspace %s already holds %llu MB, over this workload's "
		"disk limit of %s (%s)",
		project->path, (unsigned long long)disk_limit_used_mb((int64_t)bytes), limit,
		disk_breach_origin(d->source));
	if (strcmp(d->source, "ceiling") == 0)
		return error_set_remedy(err, "free space in the workspace, or ask the operator "
					     "to raise the ceiling: "
					     "the executor's limits, the project's limits, or "
					     "executors.limits.max_disk");
	return error_set_remedy(err,
		"free space in the workspace, or raise resources.disk in .cloop/sandbox.yaml (an "
		"operator's disk ceiling still caps it)");
}

static int measure(const struct project *project, int cancel_fd, struct plan_disk *d,
	struct disk_measured *ret, struct error *err)
{
	int64_t begun = clock_boottime_ms();
	struct walk_bounds bounds = {.deadline_ms = begun + STATE_MS,
		.cancelled = cancel_fd >= 0 ? cancelled : NULL,
		.data = &cancel_fd};
	uint64_t state_entries = 0;

	d->has_baseline =
		disk_measure_baseline(project->fd, &bounds, &d->baseline, &state_entries) == 0;
	bounds.deadline_ms = begun + ALL_MS;
	struct disk_question q = {.project = project->fd, .bounds = bounds};
	int r = disk_measure(&q, ret, err);
	int64_t now = clock_boottime_ms();
	if (r == 0) {
		d->has_start = ret->reason == WALK_COMPLETE;
		d->start = (struct disk_sample){
			ret->bytes, disk_schedule_cost(now - begun, ret->cpu_us), now};
		d->start_entries = ret->entries + state_entries;
	}
	return r;
}

int disk_start_check(const struct executor_start *start, const struct project *project,
	struct plan_disk *ret, struct error *err)
{
	const struct container_request *request = start->request;
	AUTO(disk_measured) found = {0};
	struct stat st;

	*ret = PLAN_DISK_INIT;
	if (fstat(project->fd, &st) == 0) {
		ret->device = st.st_dev;
		ret->inode = st.st_ino;
	}
	if (!request->has_limits || request->limits.disk_mb == 0)
		return 0;
	ret->limit_mb = request->limits.disk_mb;
	ret->source = disk_limit_source(text_of(start->disk_source));
	int r = measure(project, start->cancel_fd, ret, &found, err);
	if (r > 0)
		return error_set(err, ERROR_START_CANCELLED, "the start was cancelled");
	if (r < 0)
		return -1;
	return disk_limit_over(found.bytes, ret->limit_mb) ? refuse(project, ret, found.bytes, err)
							   : 0;
}
