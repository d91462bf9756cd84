/*
 * An accepted reference is safe as one argv word, and its rendered forms parse to the same parts.
 */
#include <assert.h>
#include <string.h>

#include "image/reference.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_same(const struct image_reference *a, const struct image_reference *b)
{
	assert(image_reference_same_name(a, b));
	assert(strcmp(a->digest, b->digest) == 0);
	assert(a->qualified == b->qualified);
}

static struct image_reference parse_again(const char *text)
{
	auto_error struct error err = ERROR_INIT;
	struct image_reference r;

	assert(text[0] != '-' && strlen(text) <= IMAGE_TEXT_MAX);
	for (const char *p = text; *p; p++)
		assert(*p >= 0x21 && *p <= 0x7e);
	int parsed = image_reference_parse(text_of(text), &r, &err);
	assert(parsed == 0);
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_error struct error err = ERROR_INIT;
	struct image_reference r, again;
	char text[IMAGE_TEXT_MAX + 1];

	if (image_reference_parse((struct text){(const char *)data, size}, &r, &err) < 0) {
		assert(err.code >= ERROR_IMAGE_REF_EMPTY && err.code <= ERROR_IMAGE_REF_IMAGE_ID);
		assert(strstr(err.message, "malformed image reference"));
		return 0;
	}
	image_reference_render(&r, text);
	again = parse_again(text);
	check_same(&r, &again);
	assert(strcmp(r.tag, again.tag) == 0);
	image_reference_run_as(&r, text);
	again = parse_again(text);
	check_same(&r, &again);
	image_reference_canonical(&r, text);
	if (*text) {
		again = parse_again(text);
		check_same(&r, &again);
	}
	return 0;
}
