/* What dead runs left behind (include/cloop/container.h, container-driver.md §16.3). */
#include "lib/home.h"
#include "lib/strings.h"

enum { NAMES_MAX = 10000 };

int cloop_container_reap_orphans(struct cloop_container *container,
	const struct cloop_cancel *cancel, char ***names, struct cloop_error *err)
{
	LIB_ERROR(e, err);
	LIB_GIVE_UP(cancel);
	AUTO(home) home = HOME_INIT;
	AUTO(strv) removed = STRV_INIT(NAMES_MAX);
	struct lib_call call;
	int r = -1;

	lib_call_begin(container, cancel, &call);
	if (lib_cancel_check(cancel, e) == 0 && home_open(call.home, &home, e) == 0) {
		lib_home_look(&call, &home);
		r = executor_reap_orphans(&call.executor, call.home, &removed, e);
	}
	*names = lib_strings_give(&removed);
	return r;
}
