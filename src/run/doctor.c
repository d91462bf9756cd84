#include "run/doctor.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "executor/drivers/drivers.h"
#include "image/cosign-key.h"
#include "image/cosign.h"
#include "image/registry/registry.h"
#include "run/context.h"
#include "run/doctor-images.h"
#include "run/doctor-egress.h"
#include "run/doctor-limits.h"
#include "sys/clock.h"

enum { COSIGN_MS = 20000, REGISTRIES_MS = 120000 };

#define OK(name, ...) preflight_report_add(r, name, PREFLIGHT_OK, "", __VA_ARGS__)
#define WARN(name, fix, ...) preflight_report_add(r, name, PREFLIGHT_WARN, fix, __VA_ARGS__)

static void add_error(const char *name, const struct error *err, struct preflight_report *r)
{
	preflight_report_add(r, name, PREFLIGHT_FAIL, error_remedy(err), "%s", err->message);
}

/* ---- images.signature ---- */

#define SIGNATURE "images.signature"

static bool check_keys(const struct strv *keys, struct preflight_report *r)
{
	struct cosign_key key;
	bool usable = true;

	strv_foreach (path, keys) {
		auto_error struct error err = ERROR_INIT;
		if (cosign_key_read(*path, &key, &err) == 0)
			continue;
		add_error(SIGNATURE, &err, r);
		usable = false;
	}
	return usable;
}

static void tell_version(const struct cosign *c, struct preflight_report *r)
{
	char version[COSIGN_VERSION_MAX];

	cosign_version(c, version);
	if (version[0])
		OK(SIGNATURE, "cosign %s at %s%s", version, quoted_string(c->program),
			cosign_version_is_old(version)
				? ", which does not find what version 3 signs by default"
				: "");
	else
		WARN(SIGNATURE, "run it with the word version, and see what it lacks",
			"%s does not say which version of cosign it is", quoted_string(c->program));
}

static void check_cosign(const char *home, bool usable, struct preflight_report *r)
{
	static const struct image_reference nowhere = {
		.registry = "registry.invalid", .repository = "cloop-doctor/probe"};
	auto_error struct error err = ERROR_INIT;
	AUTO(cosign) cosign = COSIGN_INIT;
	struct cosign_setup setup = {.home = home,
		.image = &nowhere,
		.deadline_ms = clock_boottime_ms() + COSIGN_MS,
		.cancel_fd = -1};

	int found = cosign_open(&setup, &cosign, &err);
	if (found < 0)
		add_error(SIGNATURE, &err, r);
	else if (found == COSIGN_MISSING)
		preflight_report_add(r, SIGNATURE, PREFLIGHT_FAIL,
			"install cosign 3 where PATH leads to it",
			"signatures are required, and there is no cosign: no image runs");
	else if (usable)
		tell_version(&cosign, r);
}

static void check_signature(
	const struct image_policy *p, const char *home, struct preflight_report *r)
{
	if (!p->require_signature) {
		OK(SIGNATURE, "no signature is required");
		return;
	}
	bool usable = check_keys(&p->cosign_public_keys.items, r);
	if (home)
		check_cosign(home, usable, r);
	else
		WARN(SIGNATURE, "choose a home that can be used",
			"cosign was not looked for: it needs cloop's home");
}

/* ---- images.registry ---- */

#define REGISTRY "images.registry"

static void ping(const struct image_policy *p, const char *host, struct preflight_report *r)
{
	auto_error struct error err = ERROR_INIT;
	struct image_reference ref = {.repository = "cloop-doctor/probe", .qualified = true};
	struct registry_question q = {.policy = p, .ref = &ref, .cancel_fd = -1};
	long status;

	memcpy(ref.registry, host, strlen(host) + 1);
	if (registry_ping(&q, &status, &err) < 0)
		preflight_report_add(r, REGISTRY,
			error_is(&err, ERROR_REGISTRY_BAD_ANSWER) ? PREFLIGHT_WARN : PREFLIGHT_FAIL,
			error_remedy(&err), "%s", err.message);
	else if ((status >= 200 && status <= 399) || status == 401 || status == 403)
		OK(REGISTRY, "%s answers with %ld", host, status);
	else
		WARN(REGISTRY, "see that it is a registry, and that it works",
			"%s answers with %ld", host, status);
}

static void check_registries(const struct image_policy *p, bool offline, struct preflight_report *r)
{
	AUTO(strv) hosts = STRV_INIT(DOCTOR_HOSTS_MAX);
	int64_t end = clock_boottime_ms() + REGISTRIES_MS;
	size_t asked = 0;

	if (offline) {
		WARN(REGISTRY, "run it without --offline", "no registry was asked");
		return;
	}
	doctor_images_hosts(p, &hosts);
	if (hosts.n == 0)
		OK(REGISTRY, "the policy names no registry that could be asked");
	for (; asked < hosts.n && clock_boottime_ms() < end; asked++)
		ping(p, hosts.v[asked], r);
	if (asked < hosts.n)
		WARN(REGISTRY, "mend the registries that do not answer, and run it again",
			"%zu registries were not asked: it took too long", hosts.n - asked);
}

/* ---- Executors ---- */

/* Takes `finding`, whose name is "" for the executor as a whole. */
static void add_finding(json_t *checks, const struct executor *e, json_t *finding)
{
	const char *part = json_get_string(finding, "name");
	auto_free char *name =
		mem_printf("executor.%s%s%s", e->id, part && *part ? "." : "", part ? part : "");
	json_t *check = json_pack("{s:s}", "name", name);

	json_object_update_missing(check, finding);
	json_array_append_new(checks, check);
	json_decref(finding);
}

static void check_executor(const struct executor *e, json_t *checks)
{
	auto_error struct error err = ERROR_INIT;
	auto_json *report = NULL;
	json_t *finding;
	size_t i;

	if (executor_preflight(e, NULL, &report, &err) < 0) {
		add_finding(checks, e,
			json_pack("{s:s, s:s, s:s}", "level", "fail", "message", err.message, "fix",
				error_remedy(&err)));
		return;
	}
	json_array_foreach(json_object_get(report, "findings"), i, finding)
		add_finding(checks, e, json_incref(finding));
}

/* ---- All of it ---- */

static void leave_out(struct preflight_report *r)
{
	static const char *const names[] = {"images.digest_pinning", SIGNATURE, "images.configured",
		REGISTRY, "limits", "executor"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		WARN(names[i], "mend the configuration (cloop config check)",
			"not checked: the configuration is broken");
}

/* Those of the image policy have a row of their own. */
static void warn_of_keys(const struct problems *warnings, struct preflight_report *r)
{
	for (size_t i = 0; i < warnings->n; i++) {
		const struct problem *p = &warnings->v[i];
		if (!text_starts(text_of(p->path), "sandbox.image_policy"))
			WARN("config", p->remedy, "%s: %s (%s)", p->path, p->message, p->code);
	}
}

static int read_config(const char *path, struct config *ret, struct preflight_report *r)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(config_report) report = {0};
	int result = config_read(path, ret, &report, &err);

	if (result == 0) {
		config_check_keys(ret, &report.warnings);
		doctor_images_policy(ret, &report.warnings, r);
		warn_of_keys(&report.warnings, r);
		return 0;
	}
	if (result < 0) {
		add_error("images.policy", &err, r);
	} else {
		doctor_images_broken(&report.errors, r);
		doctor_egress_broken(&report.errors, r);
	}
	leave_out(r);
	return -1;
}

/* Home and executors as far as they can be opened. */
static void open_rest(const char *home, struct context *c, struct preflight_report *r)
{
	auto_error struct error err = ERROR_INIT;

	if (home_open(home, &c->home, &err) < 0) {
		add_error("home", &err, r);
		return;
	}
	struct executor_settings settings = config_executor_settings(&c->config, c->home.path);
	if (drivers_open(&settings, &c->executors, &err) < 0)
		add_error("executor", &err, r);
}

static void check_all(
	const struct doctor_question *q, struct context *c, struct preflight_report *r)
{
	const struct image_policy *p = &c->config.image_policy;

	if (read_config(q->config_path, &c->config, r) < 0)
		return;
	open_rest(q->home, c, r);
	doctor_images_pinning(p, r);
	check_signature(p, c->home.path, r);
	doctor_images_configured(&c->config, r);
	check_registries(p, q->offline, r);
	doctor_limits(c, r);
	if (c->home.path)
		doctor_egress(c->home.path, r);
}

static bool none_fails(const json_t *checks)
{
	const json_t *check;
	size_t i;

	json_array_foreach(checks, i,
		check) if (strcmp(json_get_string(check, "level"), "fail") == 0) return false;
	return true;
}

json_t *doctor_examine(const struct doctor_question *q)
{
	AUTO(context) context = {.home = HOME_INIT};
	AUTO(preflight_report) report = {0};

	check_all(q, &context, &report);
	json_t *checks = preflight_report_to_json(&report);
	for (size_t i = 0; i < context.executors.n; i++)
		check_executor(context.executors.items[i], checks);
	return json_pack("{s:b, s:o}", "ok", none_fails(checks), "checks", checks);
}
