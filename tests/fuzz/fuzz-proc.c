/*
 * What the kernel says of a sandbox: /proc/PID/status, files of control groups. Input: texts that a
 * NUL ends; six of them are one level, the rest is a status. A limit that is said to be held is:
 * what is effective is no more, and further levels only lower it.
 */
#include <assert.h>
#include <stdint.h>

#include "executor/container/device-access.h"
#include "executor/container/readback.h"

enum { LEVELS = 4, FILES = 5 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool lower(uint64_t now, uint64_t before)
{
	return before == 0 || (now != 0 && now <= before);
}

static void check_limits(const struct readback_level *levels, int version)
{
	auto_error struct error err = ERROR_INIT;
	struct readback r = {.version = version, .levels = levels};
	struct limits before = {0};

	for (r.n_levels = 1; r.n_levels <= LEVELS; r.n_levels++) {
		struct limits now = readback_effective(&r);
		struct argv_limits asked = {.cpu_millis = now.cpu_millis,
			.memory_mb = now.memory_mb,
			.pids = (int64_t)(now.pids < INT32_MAX ? now.pids : INT32_MAX)};
		assert(lower(now.cpu_millis, before.cpu_millis) || now.cpu_millis == 0);
		assert(lower(now.memory_mb, before.memory_mb) || now.memory_mb == 0);
		if (readback_check(&r, &asked, &err) < 0)
			assert(error_is(&err, ERROR_LIMITS_NOT_APPLIED) &&
				json_array_size(json_object_get(err.details, "resources")) > 0);
		asked = (struct argv_limits){.pids = -1};
		assert(readback_check(&r, &asked, &err) == 0);
		before = now;
	}
}

static void check_status(struct text status)
{
	struct device_access_who who;
	struct device_access_node node = {.mode = 0600, .uid = 0, .gid = 0};

	if (!device_access_read(status, &who))
		return;
	assert(who.n_groups >= 1 && who.n_groups <= DEVICE_ACCESS_GROUPS_MAX + 1);
	assert(device_access_allows(&node, &who, "rw") == (who.uid == 0));
	node.mode = 0006;
	node.uid = who.uid;
	assert(!device_access_allows(&node, &who, "rw"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text rest = {(const char *)data, size};
	struct readback_level levels[LEVELS] = {0};

	for (size_t i = 0; i < LEVELS; i++) {
		struct text *files[FILES] = {&levels[i].memory, &levels[i].swap, &levels[i].cpu,
			&levels[i].cpu_period, &levels[i].pids};
		for (size_t f = 0; f < FILES; f++)
			if (!text_split(&rest, '\0', files[f]) || files[f]->len == 0)
				*files[f] = (struct text){NULL, 0};
	}
	check_limits(levels, 1);
	check_limits(levels, 2);
	check_status((struct text){(const char *)data, size});
	check_status(rest.p ? rest : (struct text){"", 0});
	return 0;
}
