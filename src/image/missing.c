#include "image/missing.h"

#include "base/mem.h"

#define NAME_ANOTHER "cloop config set executors.container.image NAME"

char *image_missing_remedy(const char *engine, struct text image, enum image_origin origin)
{
	const char *also =
		origin == IMAGE_ORIGIN_OPERATOR ? "; or name one that is here: " NAME_ANOTHER : "";
	auto_free char *pull =
		mem_printf("%s pull %.*s", engine, (int)image.len, image.len ? image.p : "");

	if (origin == IMAGE_ORIGIN_PUBLISHED)
		return mem_printf("name an image that is here (%s images): " NAME_ANOTHER
				  "; this one comes from scripts/build-harness-image of cloop's "
				  "sources, or by %s once it is published",
			engine, pull);
	if (text_starts(image, "localhost/"))
		return mem_printf("build it under this name (%s build), or %s from a registry of "
				  "this machine%s",
			engine, pull, also);
	return mem_printf("%s%s", pull, also);
}
