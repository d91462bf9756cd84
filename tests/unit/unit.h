/* What every unit test needs: cmocka, after the headers it wants. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"

/* 0, or the test fails with what the error says. */
#define assert_done(call, err) \
	do { \
		if ((call) != 0) \
			fail_msg("%s: %s", #call, (err)->message); \
	} while (0)
