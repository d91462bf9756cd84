/* Does anything answer at a registry (image-trust.md §13)? */
#include "image/registry/registry.h"
#include "image/registry/session.h"

int registry_ping(const struct registry_question *q, long *ret_status, struct error *err)
{
	AUTO(session) s = {.http = NULL};

	if (session_open(q, &s, err) < 0 || session_ping(&s, ret_status, err) < 0)
		return error_prefix(err, "registry %s", q->ref->registry);
	return 0;
}
