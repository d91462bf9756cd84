#include "executor/container/plan-disk.h"

#include <string.h>

#include "limits/disk-limit.h"

static const struct {
	const char *key;
	size_t offset;
} numbers[] = {
	{"limit_mb", offsetof(struct plan_disk, limit_mb)},
	{"baseline", offsetof(struct plan_disk, baseline)},
	{"start_bytes", offsetof(struct plan_disk, start.bytes)},
	{"start_cost_ms", offsetof(struct plan_disk, start.cost_ms)},
	{"start_at_ms", offsetof(struct plan_disk, start.at_ms)},
	{"start_entries", offsetof(struct plan_disk, start_entries)},
	{"device", offsetof(struct plan_disk, device)},
	{"inode", offsetof(struct plan_disk, inode)},
};

json_t *plan_disk_to_json(const struct plan_disk *d)
{
	json_t *j = json_pack("{s:s, s:b, s:b}", "source", d->source, "has_baseline",
		d->has_baseline, "has_start", d->has_start);

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		int64_t n;
		memcpy(&n, (const char *)d + numbers[i].offset, sizeof(n));
		json_object_set_new(j, numbers[i].key, json_integer(n));
	}
	return j;
}

int plan_disk_from_json(const json_t *j, struct plan_disk *ret)
{
	*ret = PLAN_DISK_INIT;
	if (!j)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		json_t *n = json_object_get(j, numbers[i].key);
		if (!json_is_integer(n))
			return -1;
		int64_t value = json_integer_value(n);
		memcpy((char *)ret + numbers[i].offset, &value, sizeof(value));
	}
	ret->source = disk_limit_source(json_get_text(j, "source"));
	ret->has_baseline = json_get_bool(j, "has_baseline", false);
	ret->has_start = json_get_bool(j, "has_start", false);
	return 0;
}
