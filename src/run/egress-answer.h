/*
 * What a proxy answered to one request (network.md §13.5), its own words held apart from those of
 * an origin. Pure; views into the bytes.
 */
#pragma once

#include <stdbool.h>

#include "base/text.h"

struct egress_answer {
	bool whole;          /* the head is all there */
	struct text verdict; /* "none": the head has none */
	struct text status;  /* its digits; "": no head */
	struct text body;    /* as far as it came */
};
/* An origin's field of the verdict's name never comes through; the name may stand in a value. */
struct egress_answer egress_answer_read(struct text bytes);
