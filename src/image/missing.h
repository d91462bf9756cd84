/* What helps where an image is not in the engine's store; cloop never pulls. Pure. */
#pragma once

#include "base/cleanup.h"
#include "base/text.h"
#include "image/verdict.h"

/*
 * Holds `ENGINE pull IMAGE` (image-trust.md §12), and what helps where no registry has it. Caller
 * frees.
 */
must_check char *image_missing_remedy(
	const char *engine, struct text image, enum image_origin origin);
