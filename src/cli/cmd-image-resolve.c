/* cloop image resolve (image-trust.md §13): from a tag to its digest. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/judge.h"
#include "executor/container/driver/driver.h"
#include "executor/container/driver/image-store.h"
#include "image/registry/registry.h"
#include "run/context.h"

/* Allowed, or -1 with the denial of the verdict. */
static int pass(const struct image_policy *p, enum image_origin origin, struct text image,
	struct image_verdict *ret, struct error *err)
{
	image_verdict(p, origin, image, ret);
	return ret->allowed ? 0 : image_verdict_error(ret, origin, image, err);
}

/* The members that both sources share; digest "" = none. */
static json_t *describe(
	struct text image, const struct image_reference *r, const char *digest, const char *source)
{
	struct image_reference pinned = *r;
	char canonical[IMAGE_TEXT_MAX + 1];

	memcpy(pinned.digest, digest, strlen(digest) + 1);
	image_reference_canonical(&pinned, canonical);
	return json_pack("{s:o, s:s, s:s, s:s, s:s, s:s, s:s}", "image", json_from_bytes(image),
		"registry", r->registry, "repository", r->repository, "tag",
		r->digest[0] ? r->tag : image_reference_tag(r), "digest", digest, "canonical",
		canonical, "source", source);
}

/* ---- The registry ---- */

static json_t *describe_login(const struct login_found *l)
{
	return l->login.key ? json_pack("{s:o, s:o}", "file", json_from_bytes(text_of(l->file)),
				      "key", json_from_bytes(text_of(l->login.key)))
			    : json_null();
}

static int ask_registry(const struct image_policy *p, enum image_origin origin,
	const struct image_reference *ref, json_t **ret, struct error *err)
{
	AUTO(login_found) login = {.file = NULL};
	struct registry_question q = {
		.policy = p, .origin = origin, .ref = ref, .login = &login, .cancel_fd = -1};
	struct registry_answer answer;

	if (ref->registry[0] && logins_find(ref, &login, err) < 0)
		return -1;
	if (registry_resolve(&q, &answer, err) < 0)
		return -1;
	*ret = json_pack("{s:s, s:s, s:o}", "digest", answer.digest, "media_type",
		answer.media_type, "login", describe_login(&login));
	return 0;
}

static int resolve_remote(
	struct cli *c, enum image_origin origin, struct text image, json_t **ret, struct error *err)
{
	AUTO(config) config = {0};
	struct image_verdict v;
	auto_json *answer = NULL;
	const char *path = cli_config(c, err);

	if (!path)
		return -1;
	if (config_load(path, &config, err) < 0) {
		image_verdict_broken(image, err, &v);
		return image_verdict_error(&v, origin, image, err);
	}
	if (pass(&config.image_policy, origin, image, &v, err) < 0 ||
		ask_registry(&config.image_policy, origin, &v.ref, &answer, err) < 0)
		return -1;
	*ret = describe(image, &v.ref, json_get_string(answer, "digest"), "registry");
	json_object_update(*ret, answer);
	return 0;
}

/* ---- The engine's store ---- */

static int look_up(const struct context *context, const struct executor *e, const char *reference,
	struct stored_image *ret, struct error *err)
{
	const struct container_driver *driver = container_driver_of(e);
	AUTO(strv) env = STRV_INIT(64);

	if (!driver)
		return error_set(err, ERROR_EXECUTOR_UNAVAILABLE,
			"executor %s has no store of images", quoted_string(e->id));
	if (client_environment(&driver->runtime, context->home.path, &env, err) < 0)
		return -1;
	AUTO(image_answers)
	answers = {.runtime = &driver->runtime,
		.env = &env,
		.home = context->home.path,
		.cancel_fd = -1};
	return image_store_look_up(&answers, reference, ret, err);
}

static int refuse_executor(const struct executor *e, const struct error *reason, struct error *err)
{
	error_set(err, reason->code, "executor %s: %s", e->id, reason->message);
	return error_set_remedy(err, "%s", error_remedy(reason));
}

static int resolve_local(
	struct cli *c, enum image_origin origin, struct text image, json_t **ret, struct error *err)
{
	AUTO(context) context = {.home = HOME_INIT};
	AUTO(stored_image) stored = STORED_IMAGE_INIT;
	struct image_verdict v;

	judge_image(c, origin, image, &v);
	if (!v.allowed)
		return image_verdict_error(&v, origin, image, err);
	if (cli_context_open(c, &context, err) < 0 ||
		pass(&context.config.image_policy, origin, image, &v, err) < 0)
		return -1;
	const struct executor *e = context_executor(&context, cli_option(c, "--executor"), err);
	if (!e)
		return -1;
	const struct error *reason = executor_unavailable_reason(e);
	if (reason)
		return refuse_executor(e, reason, err);
	if (look_up(&context, e, v.run_as, &stored, err) < 0)
		return -1;
	*ret = describe(image, &stored.identity.ref, stored.identity.digest, "local");
	json_object_set_new(*ret, "login", json_null());
	if (!stored.identity.digest[0] && !c->json)
		fprintf(stderr, "the store knows no digest for it: it runs by its ID %s\n",
			stored.identity.id);
	return 0;
}

static int run(struct cli *c, struct error *err)
{
	struct text image = text_of(cli_arg(c, 0));
	enum image_origin origin = judge_origin(c, image);
	bool local = cli_flag(c, "--local");
	auto_json *answer = NULL;

	if ((local ? resolve_local : resolve_remote)(c, origin, image, &answer, err) < 0)
		return -1;
	const char *canonical = json_get_string(answer, "canonical");
	if (c->json)
		cli_print_json(json_incref(answer));
	else if (*canonical)
		puts(canonical);
	return CLI_OK;
}

static const struct option options[] = {
	JUDGE_ORIGIN_OPTION,
	{"--local", NULL, "ask the engine's store instead of the registry", NULL, false},
	{"--executor", "ID", "whose store (with --local)", NULL, false},
	{NULL, NULL, NULL, NULL, false},
};

const struct verb cmd_image_resolve = {
	.group = "image",
	.name = "resolve",
	.summary = "show the digest that an image's tag stands for",
	.args = "REF",
	.min_args = 1,
	.max_args = 1,
	.flags = VERB_JSON | VERB_HOME | VERB_CONFIG | VERB_ANY_WORD,
	.options = options,
	.help = "Asks the registry for the digest of the tag, and prints the reference with it, "
		"ready to be pasted into .cloop/sandbox.yaml. The policy judges first: for an "
		"image "
		"that it refuses nothing is asked. A login is taken from the files of podman and "
		"docker; credential helpers are never run. With --local the store of the engine "
		"is asked, and no network.",
	.run = run,
};
