#include "limits/resource.h"

#include <stddef.h>

#include "base/enum-text.h"

static const char *const names[] = {
	[RESOURCE_CPU] = "cpu",
	[RESOURCE_MEMORY] = "memory",
	[RESOURCE_DISK] = "disk",
	[RESOURCE_PIDS] = "pids",
};
ENUM_TEXT(resource, names, RESOURCE_COUNT)

static const struct member {
	const char *name;
	size_t offset;
} members[] = {
	[RESOURCE_CPU] = {"cpu_millis", offsetof(struct limits, cpu_millis)},
	[RESOURCE_MEMORY] = {"memory_mb", offsetof(struct limits, memory_mb)},
	[RESOURCE_DISK] = {"disk_mb", offsetof(struct limits, disk_mb)},
	[RESOURCE_PIDS] = {"pids", offsetof(struct limits, pids)},
};
static_assert(ARRAY_SIZE(members) == RESOURCE_COUNT, "a member for every resource");

static const struct member *member_of(enum resource r)
{
	assert((size_t)r < RESOURCE_COUNT);
	return &members[r];
}

const char *resource_member(enum resource r)
{
	return member_of(r)->name;
}

uint64_t resource_get(const struct limits *l, enum resource r)
{
	uint64_t value;

	memcpy(&value, (const char *)l + member_of(r)->offset, sizeof(value));
	return value;
}

void resource_set(struct limits *l, enum resource r, uint64_t value)
{
	memcpy((char *)l + member_of(r)->offset, &value, sizeof(value));
}
