#include "executor/container/driver/check-facts.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "executor/container/preflight.h"
#include "executor/container/validate.h"
#include "image/policy.h"
#include "store/store.h"
#include "vault/clocks-now.h"
#include "vault/grant.h"

enum { INFO_MAX = 4 << 20 };

bool check_facts_devices_granted(const char *home)
{
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) store = NULL;
	auto_json *grants = json_array();
	struct grant_filter live = {.all = false};
	struct two_clocks now = clocks_now();
	size_t i;
	json_t *grant;

	if (!home || store_open_existing(home, &store, &err) != 0 ||
		grant_list(store, &live, &now, grants, &err) < 0)
		return false;
	json_array_foreach(
		grants, i, grant) if (text_is(json_get_text(grant, "kind"),
					      secret_kind_text(SECRET_HOST_DEVICE))) return true;
	return false;
}

static json_t *ask_info(
	const struct container_driver *d, const struct strv *env, int64_t timeout_ms)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(captured) answer = {.status = 0};
	auto_free char *runtime = mem_printf("--runtime=%s", d->options.oci_runtime);
	const char *args[] = {runtime, "info", "--format={{json .}}", NULL};
	struct client_call call = {
		.runtime = &d->runtime,
		.env = env,
		.args = args,
		.timeout_ms = timeout_ms,
		.stdout_max = INFO_MAX,
		.cancel_fd = -1,
	};

	if (client_run(&call, &answer, &err) != 0)
		return NULL;
	return json_read((struct text){str_text(&answer.out), answer.out.len}, INFO_MAX, "info",
		ERROR_ENGINE_FAILED, &err);
}

bool check_facts_old_runc(const struct container_driver *d, const struct strv *env,
	const json_t *info, int64_t timeout_ms)
{
	auto_json *own = NULL;

	if (d->runtime.engine != ENGINE_PODMAN ||
		oci_class_kernel_isolated(oci_class_of(text_of(d->options.oci_runtime))))
		return false;
	if (d->options.oci_runtime[0])
		info = own = ask_info(d, env, timeout_ms);
	const json_t *runtime = json_object_get(json_object_get(info, "host"), "ociRuntime");
	return preflight_runc_link_bug(json_get_text(runtime, "version"));
}

bool check_facts_images_pinned(const struct container_driver *d)
{
	return strchr(d->options.image, '@') && d->settings.policy &&
	       d->settings.policy->require_digest;
}
