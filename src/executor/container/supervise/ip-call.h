/* Calls of ip(8), here or in another network namespace; they take milliseconds and are waited for.
 */
#pragma once

#include "base/error.h"
#include "executor/container/ip-answer.h"
#include "executor/container/ip-line.h"

/* Are `ip` and `nsenter` there, and may we? -1: executor_unsupported. */
must_check int ip_call_possible(struct error *err);
/* ns: the namespace of steps inside. -1: io, with ip's own words. */
must_check int ip_call_step(int ns, const struct ip_step *step, struct error *err);
/* The links of a namespace; ns -1 = ours. */
must_check int ip_call_links(int ns, struct ip_links *ret, struct error *err);
/* 1 a default route of any table and family uses it (*ret names it), 0 none does. */
must_check int ip_call_default_route(const char *interface, char **ret, struct error *err);
