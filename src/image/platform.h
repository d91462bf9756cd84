/* Which programs a machine runs by itself: an image says what it was made for (§19.2). Pure. */
#pragma once

#include "base/text.h"

/*
 * The emulator, by its name in binfmt_misc ("qemu-aarch64"), that a machine needs for an image;
 * both as images name them ("amd64"). NULL: none, or one of the two is not known. Static.
 */
const char *platform_emulator(struct text image, struct text machine);
