/* Container executors: made, shared, given a home (include/cloop/container.h). */
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "lib/container.h"
#include "lib/home.h"
#include "lib/options.h"
#include "lib/revocations.h"

enum { HOMES_MAX = 65536 };

static void release(struct cloop_container *c)
{
	if (c->private_home && c->executor && c->private_owner == getpid())
		lib_home_remove(c);
	executor_free(c->executor);
	egress_filter_done(&c->filter);
	image_policy_done(&c->policy);
	lib_revocations_free(c->revocations);
	strv_done(&c->homes);
	free(c->private_home);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

/* Takes what of the options the executor goes on using. */
static struct cloop_container *make(struct lib_options *o)
{
	struct cloop_container *c = mem_alloc(sizeof(*c));

	atomic_init(&c->references, 1);
	pthread_mutex_init(&c->lock, NULL);
	c->homes = STRV_INIT(HOMES_MAX);
	c->filter = o->filter;
	c->policy = o->policy;
	memset(&o->filter, 0, sizeof(o->filter));
	memset(&o->policy, 0, sizeof(o->policy));
	c->revocations = lib_revocations_new();
	return c;
}

static int open_executor(struct cloop_container *c, const struct lib_options *o, struct error *err)
{
	struct container_settings settings = {
		.filter = &c->filter,
		.policy = &c->policy,
		.provenance = &c->provenance,
		.derived_image_days = o->derived_image_days,
	};

	if (container_driver_open(NULL, &o->options, &settings, &c->executor, err) < 0)
		return -1;
	lib_container_show(c);
	return lib_home_attach(c, o->home, err);
}

int cloop_container_new(const struct cloop_container_options *options,
	struct cloop_container **container, struct cloop_error *err)
{
	LIB_ERROR(e, err);
	struct lib_options o;

	if (LIB_MISSING(e, options, container))
		return -1;
	if (lib_options_read(options, &o, e) < 0)
		return -1;
	struct cloop_container *c = make(&o);
	int r = open_executor(c, &o, e);
	lib_options_done(&o);
	if (r < 0)
		release(c);
	else
		*container = c;
	return r;
}

struct cloop_container *cloop_container_ref(struct cloop_container *container)
{
	if (container)
		atomic_fetch_add(&container->references, 1);
	return container;
}

void cloop_container_unref(struct cloop_container *container)
{
	if (container && atomic_fetch_sub(&container->references, 1) == 1)
		release(container);
}

int cloop_container_attach_home(
	struct cloop_container *container, const char *home, struct cloop_error *err)
{
	LIB_ERROR(e, err);

	return LIB_MISSING(e, container) ? -1 : lib_home_attach(container, home, e);
}
