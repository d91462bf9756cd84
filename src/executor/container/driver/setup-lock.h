/*
 * The lock of a key of an image for `setup:`, <home>/locks/setup-KEY (image-trust.md §11.4): its
 * time is the key's last use, its content the engine that has the image.
 */
#pragma once

#include <stdbool.h>

#include "executor/container/runtime.h"

#define SETUP_LOCK_PREFIX "setup-"

enum { SETUP_LOCK_NAME_SIZE = 71 };

void setup_lock_name(const char *key, char ret[SETUP_LOCK_NAME_SIZE]);
/* The key in a name; NULL: it is not the name of such a lock. */
const char *setup_lock_key(const char *name);
/* The key is used now, with this engine. The lock is held. Best effort. */
void setup_lock_touch(int lock, const struct runtime *runtime);
/* Another engine used the key last. */
bool setup_lock_is_foreign(int lock, const struct runtime *runtime);
