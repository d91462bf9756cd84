/* The image policy of a case. */
#pragma once

#include "image/policy.h"

struct judged {
	struct image_policy policy;
	struct problems errors, warnings;
};
void judged_done(struct judged *j);

/* The member `policy` of an object as the section of a file; null and absent: none. */
void judged_policy(json_t *object, struct judged *ret);
