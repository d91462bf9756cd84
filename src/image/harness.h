/* What an image says that it carries: label org.cloop.harnesses (image-trust.md §10). Pure. */
#pragma once

#include <stddef.h>

#include "base/error.h"
#include "base/strv.h"
#include "base/text.h"

#define HARNESS_LABEL "org.cloop.harnesses"

enum { HARNESS_LABEL_MAX = 4096, HARNESS_NAME_MAX = 64, HARNESS_NAMES_MAX = 64 };

#define HARNESS_NAMES_INIT STRV_INIT(HARNESS_NAMES_MAX)

enum harness_result {
	HARNESS_ABSENT, /* the image says nothing: nothing is refused for it */
	HARNESS_OK,
	HARNESS_LACKS,
	HARNESS_RESULT_COUNT
};
const char *harness_result_text(enum harness_result r);

/*
 * Judges a label (p = NULL: the image has none) by the program that is wanted ("" = none). The
 * names it carries are added to *ret_names (HARNESS_NAMES_INIT), in order, each once.
 */
enum harness_result harness_judge(struct text label, const char *wanted, struct strv *ret_names);

/* The published repository whose image carries the program; NULL: there is none. */
const char *harness_published(const char *wanted);
/* sandbox_image_lacks_harness: `image` as records show it. Always -1. */
int harness_lacks(
	const char *image, const char *wanted, const struct strv *names, struct error *err);
