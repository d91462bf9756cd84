#include "lib/container.h"

void lib_call_begin(
	struct cloop_container *c, const struct cloop_cancel *cancel, struct lib_call *ret)
{
	ret->cancel_fd = lib_cancel_fd(cancel);
	ret->driver = *container_driver_of(c->executor);
	pthread_mutex_lock(&c->lock);
	ret->driver.home = c->homes.v[c->homes.n - 1];
	pthread_mutex_unlock(&c->lock);
	ret->home = ret->driver.home;
	ret->executor = *c->executor;
	ret->executor.driver = &ret->driver;
}
