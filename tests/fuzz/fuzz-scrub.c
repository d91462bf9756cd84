/* Scrubbing is done after once, keeps to its bound, and leaves none of the shapes it knows. */
#include <assert.h>
#include <stdint.h>

#include "base/scrub.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text t = {(const char *)data, size};
	AUTO(str) once = STR_INIT((size + 1) * sizeof(SCRUB_MARK));
	AUTO(str) twice = STR_INIT((size + 1) * sizeof(SCRUB_MARK) * sizeof(SCRUB_MARK));
	AUTO(str) cut = STR_INIT(64);

	scrub_add(&once, t, once.max);
	assert(!str_full(&once));
	struct text clean = {str_text(&once), once.len};
	scrub_add(&twice, clean, twice.max);
	assert(text_equal(clean, (struct text){str_text(&twice), twice.len}));
	scrub_add(&cut, t, 32);
	assert(cut.len <= 32 + 3 && !str_full(&cut));
	return 0;
}
