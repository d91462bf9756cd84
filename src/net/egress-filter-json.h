/* A filter as request.json of a run carries it to the supervisor, all of it. Pure. */
#pragma once

#include <jansson.h>

#include "net/egress-filter.h"

json_t *egress_filter_json_write(const struct egress_filter *f);
/* -1: not of the form; *ret is the caller's in any case (egress_filter_done). */
int egress_filter_json_read(const json_t *j, struct egress_filter *ret);
