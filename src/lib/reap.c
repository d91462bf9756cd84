/* What dead runs left behind (include/cloop/container.h, container-driver.md §16.3). */
#include "lib/home.h"
#include "lib/strings.h"

enum { NAMES_MAX = 10000 };

static int reap(struct lib_call *call, struct strv *ret, struct error *err)
{
	AUTO(home) home = HOME_INIT;

	if (home_open(call->home, &home, err) < 0)
		return -1;
	lib_home_look(call, &home);
	return executor_reap_orphans(&call->executor, call->home, ret, err);
}

int cloop_container_reap_orphans(struct cloop_container *container,
	const struct cloop_cancel *cancel, char ***names, struct cloop_error *err)
{
	LIB_ERROR(e, err);
	LIB_GIVE_UP(cancel);
	AUTO(strv) removed = STRV_INIT(NAMES_MAX);
	struct lib_call call;
	int r = -1;

	if (LIB_MISSING(e, names))
		return -1;
	if (!LIB_MISSING(e, container) && lib_cancel_check(cancel, e) == 0) {
		lib_call_begin(container, cancel, &call);
		r = reap(&call, &removed, e);
	}
	*names = lib_strings_give(&removed);
	return r;
}
