#include "run/doctor-images.h"

#include <string.h>

#include "base/mem.h"
#include "image/policy-entry.h"
#include "image/provenance.h"
#include "image/verdict.h"

#define SECTION "sandbox.image_policy"
#define IMAGE_KEY "executors.container.image"

#define OK(name, ...) preflight_report_add(r, name, PREFLIGHT_OK, "", __VA_ARGS__)
#define WARN(name, fix, ...) preflight_report_add(r, name, PREFLIGHT_WARN, fix, __VA_ARGS__)

/* ---- images.policy ---- */

static bool is_entry_of_repo(const char *text, struct policy_entry *ret)
{
	return policy_entry_repo(text_of(text), ret) == PROBLEM_NONE;
}

/* An image of a registry that cannot exist; caller frees. */
static char *stranger_at(const char *repository)
{
	return mem_printf("registry.invalid/%s@sha256:%064d", repository, 0);
}

static bool allows(const struct image_policy *p, const char *image)
{
	struct image_verdict v;

	image_verdict(p, IMAGE_ORIGIN_PROJECT, text_of(image), &v);
	return v.allowed;
}

/* What an entry without a registry admits there; caller frees. */
static char *stranger_of(const char *entry)
{
	size_t n = strlen(entry);

	if (!text_ends(text_of(entry), "/*"))
		return stranger_at(entry);
	auto_free char *repository = mem_printf("%.*s/probe", (int)(n - strlen("/*")), entry);
	return stranger_at(repository);
}

char *doctor_images_stranger(const struct image_policy *p)
{
	auto_free char *image = stranger_at("cloop-doctor/probe");
	struct policy_entry entry;

	if (allows(p, image))
		return TAKE_PTR(image);
	strv_foreach (item, &p->allowed_repos.items) {
		if (!is_entry_of_repo(*item, &entry) || entry.registry_len > 0)
			continue;
		auto_free char *other = stranger_of(*item);
		if (allows(p, other))
			return TAKE_PTR(other);
	}
	return NULL;
}

static void add_problem(
	const struct problem *p, enum preflight_level level, struct preflight_report *r)
{
	preflight_report_add(r, "images.policy", level, p->remedy, "%s%s%s (%s)", p->path,
		p->path[0] ? ": " : "", p->message, p->code);
}

static void add_warnings(const struct problems *warnings, struct preflight_report *r)
{
	for (size_t i = 0; i < warnings->n; i++)
		if (strncmp(warnings->v[i].path, SECTION, strlen(SECTION)) == 0)
			add_problem(&warnings->v[i], PREFLIGHT_WARN, r);
}

void doctor_images_policy(
	const struct config *c, const struct problems *warnings, struct preflight_report *r)
{
	const struct image_policy *p = &c->image_policy;
	bool active = image_policy_active(p);
	auto_free char *stranger = active ? doctor_images_stranger(p) : NULL;
	size_t before = r->n;

	if (!active && c->container_enabled)
		WARN("images.policy",
			"set allowed_registries or allowed_repos in " SECTION " (docs/images.md)",
			"no rule is set: sandboxes run every image that a project names");
	add_warnings(warnings, r);
	if (stranger)
		WARN("images.policy", "list the registries in allowed_registries",
			"images of any registry are allowed, such as %s", stranger);
	if (r->n > before)
		return;
	if (active)
		OK("images.policy", "valid: %zu registries, %zu repositories",
			p->allowed_registries.items.n, p->allowed_repos.items.n);
	else
		OK("images.policy", "no rule is set, and no executor runs images");
}

void doctor_images_broken(const struct problems *errors, struct preflight_report *r)
{
	for (size_t i = 0; i < errors->n; i++)
		add_problem(&errors->v[i], PREFLIGHT_FAIL, r);
}

/* ---- images.digest_pinning ---- */

void doctor_images_pinning(const struct image_policy *p, struct preflight_report *r)
{
	static const char name[] = "images.digest_pinning";

	if (!image_policy_active(p))
		OK(name, "no rule is set");
	else if (p->require_digest)
		OK(name, "images must carry a digest");
	else
		WARN(name, "set " SECTION ".require_digest: true",
			"images may be named by a tag, which can be moved to another image");
}

/* ---- images.configured ---- */

/* The operator's own image, by the rules that hold for projects. */
static void judge_own(const struct config *c, struct text image, struct preflight_report *r)
{
	struct image_verdict v;

	image_verdict(&c->image_policy, IMAGE_ORIGIN_PROJECT, image, &v);
	if (!v.allowed)
		WARN("images.configured", v.remedy, IMAGE_KEY ": %s (rule: %s)%s", v.reason,
			image_rule_text(v.rule),
			c->image_policy.govern_operator_images
				? ""
				: "; it runs, since govern_operator_images is not set");
}

/* What is built here has no digest, so that there is nothing to be pinned to. */
static bool floats(const struct image_reference *r)
{
	return !r->digest[0] && strcmp(r->registry, "localhost") != 0;
}

static void judge_image(const struct config *c, struct preflight_report *r)
{
	struct text image = text_of(c->container.image);
	enum image_origin origin = provenance_origin(&c->provenance.published, image);
	struct image_verdict v;

	if (origin == IMAGE_ORIGIN_OPERATOR)
		judge_own(c, image, r);
	image_verdict(&c->image_policy, IMAGE_ORIGIN_PUBLISHED, image, &v);
	if (v.allowed && floats(&v.ref))
		WARN("images.configured",
			"set it to the digest that cloop image resolve --origin operator prints",
			IMAGE_KEY ": %s is a tag, which can be moved to another image", v.run_as);
}

void doctor_images_configured(const struct config *c, struct preflight_report *r)
{
	size_t before = r->n;

	if (c->container_enabled && c->container.image && c->container.image[0])
		judge_image(c, r);
	if (c->provenance.mode != PROVENANCE_REQUIRED)
		WARN("images.configured",
			"install cosign and set executors.image_provenance: required",
			"executors.image_provenance is %s: images under cloop's name run without "
			"a signature",
			provenance_mode_text(c->provenance.mode));
	if (r->n == before)
		OK("images.configured", "the operator's images are allowed and pinned, cloop's own "
					"are verified");
}

/* ---- images.registry ---- */

/* A longer one is no part of any reference. */
static void add_once(struct strv *list, const char *host, size_t n)
{
	if (n > IMAGE_NAME_MAX - strlen("/x"))
		return;
	auto_free char *copy = mem_strndup(host, n);

	if (!strv_has(list, copy))
		(void)!strv_add(list, copy);
}

void doctor_images_hosts(const struct image_policy *p, struct strv *ret)
{
	struct policy_entry entry;

	strv_foreach (item, &p->allowed_registries.items)
		if (!strchr(*item, '*'))
			add_once(ret, *item, strlen(*item));
	strv_foreach (item, &p->allowed_repos.items)
		if (is_entry_of_repo(*item, &entry) && entry.registry_len > 0)
			add_once(ret, entry.text, entry.registry_len);
}
