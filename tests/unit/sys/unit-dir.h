/* A fresh directory below /tmp for each test that is registered with IN_DIR(). */
#pragma once

#include "unit/unit.h"

#include "sys/file.h"

static int dir = -1;
static char path[32];

static inline int dir_setup(void **state)
{
	(void)state;
	snprintf(path, sizeof(path), "/tmp/cloop-unit-XXXXXX");
	if (!mkdtemp(path))
		return -1;
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return dir < 0 ? -1 : 0;
}

static inline int dir_teardown(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	auto_fd int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	close(dir);
	return file_remove_tree_at(tmp, path + strlen("/tmp/"), &err);
}

#define IN_DIR(f) cmocka_unit_test_setup_teardown(f, dir_setup, dir_teardown)
