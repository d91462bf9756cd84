/* Executors by their id (include/cloop/container.h). */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "lib/container.h"
#include "lib/strings.h"

enum { EXECUTORS_MAX = 4096 };

struct cloop_registry {
	pthread_mutex_t lock;
	struct cloop_container **v; /* a reference each */
	size_t n;
};

static struct cloop_registry process_registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct cloop_registry *cloop_registry_new(void)
{
	struct cloop_registry *r = mem_alloc(sizeof(*r));

	pthread_mutex_init(&r->lock, NULL);
	return r;
}

void cloop_registry_free(struct cloop_registry *registry)
{
	if (!registry)
		return;
	for (size_t i = 0; i < registry->n; i++)
		cloop_container_unref(registry->v[i]);
	free(registry->v);
	pthread_mutex_destroy(&registry->lock);
	free(registry);
}

static struct cloop_container *find(const struct cloop_registry *r, const char *id)
{
	for (size_t i = 0; i < r->n; i++)
		if (strcmp(cloop_container_id(r->v[i]), id) == 0)
			return cloop_container_ref(r->v[i]);
	return NULL;
}

struct cloop_container *cloop_registry_get(struct cloop_registry *registry, const char *id)
{
	struct cloop_registry *r = registry ? registry : &process_registry;

	pthread_mutex_lock(&r->lock);
	struct cloop_container *found = find(r, lib_text(id));
	pthread_mutex_unlock(&r->lock);
	return found;
}

/* Under the lock, also while one is made: two callers get the same one. */
static int ensure(struct cloop_registry *r, const struct cloop_container_options *options,
	const char *id, struct cloop_container **ret, struct cloop_error *err)
{
	*ret = find(r, id);
	if (*ret)
		return 0;
	if (cloop_container_new(options, ret, err) < 0)
		return -1;
	if (r->n == EXECUTORS_MAX)
		return 1;
	r->v = mem_grow(r->v, r->n + 1, sizeof(*r->v));
	r->v[r->n++] = cloop_container_ref(*ret);
	return 0;
}

int cloop_container_ensure(struct cloop_registry *registry,
	const struct cloop_container_options *options, struct cloop_container **container,
	struct cloop_error *err)
{
	LIB_ERROR(e, err);
	struct cloop_registry *r = registry ? registry : &process_registry;
	struct cloop_container_options *normal = NULL;
	struct cloop_container *got = NULL;

	if (LIB_MISSING(e, options, container))
		return -1;
	if (cloop_container_options_normalize(options, &normal, err) < 0)
		return -1;
	pthread_mutex_lock(&r->lock);
	int result = ensure(r, options, normal->id, &got, err);
	pthread_mutex_unlock(&r->lock);
	cloop_container_options_free(normal);
	if (result > 0) {
		cloop_container_unref(got);
		return error_set(e, ERROR_USAGE, "more than %d executors", EXECUTORS_MAX);
	}
	if (result == 0)
		*container = got;
	return result;
}
