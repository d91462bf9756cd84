#include "lib/runtime.h"

#include "base/mem.h"
#include "executor/container/detect.h"
#include "executor/container/validate.h"
#include "lib/error.h"
#include "lib/strings.h"

/* What a caller gets, and what its members point into. */
struct found {
	struct cloop_runtime shown; /* first: its address is the object's */
	struct runtime held;
};

struct cloop_runtime lib_runtime_show(const struct runtime *runtime)
{
	return (struct cloop_runtime){.name = engine_text(runtime->engine),
		.path = runtime->path,
		.rootless = runtime->rootless};
}

int lib_runtime_read(
	const char *name, const char *path, bool rootless, struct runtime *ret, struct error *err)
{
	int engine = engine_from_text(text_of(lib_text(name)));

	if (engine < 0)
		return error_set(err, ERROR_RUNTIME_UNSUPPORTED, "the engine %s",
			quoted_string(lib_text(name)));
	*ret = (struct runtime){.engine = (enum engine)engine,
		.path = mem_strdup(path),
		.rootless = rootless && engine == ENGINE_PODMAN};
	return 0;
}

int cloop_runtime_detect(
	const char *preferred, struct cloop_runtime **runtime, struct cloop_error *err)
{
	LIB_ERROR(e, err);
	AUTO(runtime) found = RUNTIME_INIT;

	if (LIB_MISSING(e, runtime))
		return -1;
	if (validate_runtime(text_of(lib_text(preferred)), e) < 0 ||
		runtime_detect(lib_text(preferred), NULL, &found, e) < 0)
		return -1;
	struct found *f = mem_alloc(sizeof(*f));
	f->held = found;
	found = RUNTIME_INIT;
	f->shown = lib_runtime_show(&f->held);
	*runtime = &f->shown;
	return 0;
}

void cloop_runtime_free(struct cloop_runtime *runtime)
{
	struct found *f = (struct found *)runtime;

	if (!f)
		return;
	runtime_done(&f->held);
	free(f);
}

const char *cloop_runtime_string(const struct cloop_runtime *runtime)
{
	int engine = runtime ? engine_from_text(text_of(lib_text(runtime->name))) : -1;
	struct runtime asked = {.engine = (enum engine)engine,
		.rootless = runtime && runtime->rootless && engine == ENGINE_PODMAN};

	return runtime_text(engine < 0 ? NULL : &asked);
}

bool cloop_oci_runtime_is_virtualized(const char *name)
{
	return oci_class_of(text_of(lib_text(name))).virtualized;
}

bool cloop_oci_runtime_is_kernel_isolated(const char *name)
{
	return oci_class_kernel_isolated(oci_class_of(text_of(lib_text(name))));
}
