/* A configuration that cannot be used refuses the image of a run (image-trust.md §3.2, §12). */
#pragma once

#include "base/error.h"

/*
 * A dispatch failed. If that is for want of a usable configuration (rule policy-configuration, from
 * context_open()), the refusal becomes a denial: its text holds rule and image, its details the
 * members of one. The image is the one that the project's file names; where it names none, nobody
 * knows which one was meant, and it is "". Any other error, and a denial, stay as they are.
 */
void denial_complete(const char *project_dir, struct error *refusal);
