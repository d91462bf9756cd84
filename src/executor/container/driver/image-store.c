#include "executor/container/driver/image-store.h"

#include "base/json.h"
#include "base/mem.h"
#include "image/inspect.h"

enum { INSPECT_TIMEOUT_MS = 30000, INSPECT_STDOUT_MAX = 4 << 20 };

void stored_image_done(struct stored_image *i)
{
	strv_done(&i->volumes);
}

static enum image_store store_of(const struct runtime *runtime)
{
	return runtime->engine == ENGINE_PODMAN ? IMAGE_STORE_PODMAN : IMAGE_STORE_DOCKER;
}

static void read_volumes(const json_t *inspect, struct strv *ret)
{
	json_t *volumes = json_object_get(json_object_get(inspect, "Config"), "Volumes");
	const char *target;
	json_t *value;

	json_object_foreach(volumes, target, value) if (strv_add(ret, target) < 0) break;
}

static int choose(const struct runtime *runtime, const struct image_reference *asked,
	const struct captured *answer, struct stored_image *ret, struct error *err)
{
	auto_json *inspect =
		image_inspect_read((struct text){str_text(&answer->out), answer->out.len}, err);

	if (!inspect)
		return -1;
	if (image_identity_choose(store_of(runtime), asked, inspect, &ret->identity, err) < 0)
		return -1;
	read_volumes(inspect, &ret->volumes);
	return 0;
}

int image_store_look_up(const struct runtime *runtime, const struct strv *env,
	const char *reference, int cancel_fd, struct stored_image *ret, struct error *err)
{
	struct image_reference asked;
	char name[IMAGE_TEXT_MAX + 1];
	AUTO(captured) answer = {.status = 0};

	if (image_reference_parse(text_of(reference), &asked, err) < 0)
		return -1;
	image_reference_run_as(&asked, name);
	const char *args[] = {"image", "inspect", "--", name, NULL};
	struct client_call call = {
		.runtime = runtime,
		.env = env,
		.args = args,
		.timeout_ms = INSPECT_TIMEOUT_MS,
		.stdout_max = INSPECT_STDOUT_MAX,
		.cancel_fd = cancel_fd,
	};
	int r = client_run(&call, &answer, err);
	if (r < 0)
		return -1;
	if (r == 0)
		return choose(runtime, &asked, &answer, ret, err);
	struct text words = {str_text(&answer.err), answer.err.len};
	if (image_inspect_explain(store_of(runtime), &asked, words, err) < 0)
		return -1;
	return client_explain(&call, &answer, name, err);
}
