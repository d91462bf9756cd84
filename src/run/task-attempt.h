/* One attempt at a task: what a run's record says about what it is for (store/task.h). */
#pragma once

#include <stdint.h>

enum { TASK_CLAIM_SIZE = 33 };

struct task_attempt {
	int64_t id;
	char claim[TASK_CLAIM_SIZE]; /* 32 hexadecimal digits, random */
};
