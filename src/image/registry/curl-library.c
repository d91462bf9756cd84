#include "image/registry/curl-library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/wipe.h"

static int missing(const char *why, struct error *err)
{
	error_set(err, ERROR_REGISTRY_UNREACHABLE, "cannot load libcurl: %s",
		why ? why : "unknown error");
	return error_set_remedy(err, "install it: apt install libcurl4");
}

static int load(struct curl_library *ret, struct error *err)
{
	void *handle = dlopen("libcurl.so.4", RTLD_LAZY | RTLD_LOCAL);

	if (!handle)
		return missing(dlerror(), err);
#define CURL_LIBRARY_LOAD(name) \
	*(void **)&ret->name = dlsym(handle, "curl_" #name); \
	if (!ret->name) \
		return missing("it is older than 7.84", err);
	CURL_LIBRARY_FUNCTIONS(CURL_LIBRARY_LOAD)
#undef CURL_LIBRARY_LOAD
	if (ret->global_init_mem(
		    CURL_GLOBAL_DEFAULT, malloc, wipe_free, wipe_realloc, strdup, calloc) != 0)
		return missing("it cannot be initialised", err);
	return 0;
}

const struct curl_library *curl_library(struct error *err)
{
	static struct curl_library library;
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static bool loaded;

	pthread_mutex_lock(&lock);
	loaded = loaded || load(&library, err) == 0;
	const struct curl_library *ret = loaded ? &library : NULL;
	pthread_mutex_unlock(&lock);
	return ret;
}
