#include "executor/container/driver/image-store.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "executor/container/remember.h"
#include "executor/rundir/home.h"
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
	const json_t *inspect, struct stored_image *ret, struct error *err)
{
	if (image_identity_choose(store_of(runtime), asked, inspect, &ret->identity, err) < 0)
		return -1;
	read_volumes(inspect, &ret->volumes);
	const char *user = json_get_string(json_object_get(inspect, "Config"), "User");
	ret->has_user = user && user[0];
	return 0;
}

/* The key of a kept answer: everything that decides which store is asked for what. */
static void make_key(const struct image_lookup *l, const char *name, struct str *ret)
{
	str_addf(ret, "%s\n%s\n", l->runtime->path, name);
	strv_foreach (entry, l->env)
		str_addf(ret, "%s\n", *entry);
}

/* Where the client is told, or looks by itself, what its store is. */
static void add_configs(const struct image_lookup *l, struct strv *ret)
{
	static const struct {
		const char *variable, *below;
	} given[] = {
		{"CONTAINERS_STORAGE_CONF=", ""}, {"XDG_CONFIG_HOME=", "/containers/storage.conf"}};
	auto_free char *home = home_of_user();

	strv_add(ret, "/usr/share/containers/storage.conf");
	strv_add(ret, "/etc/containers/storage.conf");
	strv_addf(ret, "%s/.config/containers/storage.conf", home);
	strv_foreach (entry, l->env)
		for (size_t i = 0; i < ARRAY_SIZE(given); i++)
			if (text_starts(text_of(*entry), given[i].variable))
				strv_addf(ret, "%s%s", *entry + strlen(given[i].variable),
					given[i].below);
}

/* Where the list of images is, and " 0" if there is no further store. */
static const char *const list_formats[ENGINE_COUNT] = {
	[ENGINE_PODMAN] =
		"--format={{.Store.GraphRoot}}/{{.Store.GraphDriverName}}-images/images.json "
		"{{len .Store.GraphOptions}}",
	[ENGINE_DOCKER] = "--format={{.DockerRootDir}}/image/{{.Driver}}/repositories.json 0",
};

/*
 * The files that the answer comes from: the store's list of images (replaced as a whole at every
 * pull, build, tag and removal; podman 4.3, containers-storage 1.43; docker 20.10 with its own
 * store, readable by root only) and what says where the store is: podman's configuration, docker's
 * socket, which every daemon makes anew. False: not known, or there are further stores; then
 * nothing is kept.
 */
static bool store_files(const struct image_lookup *l, struct strv *ret)
{
	static const char unix_scheme[] = "unix://";
	const char *args[] = {"info", list_formats[l->runtime->engine], NULL};
	auto_error struct error err = ERROR_INIT;
	AUTO(captured) answer = {.status = 0};
	struct client_call call = {
		.runtime = l->runtime,
		.env = l->env,
		.args = args,
		.timeout_ms = INSPECT_TIMEOUT_MS,
		.stdout_max = 8192,
		.cancel_fd = l->cancel_fd,
	};

	if (!l->home || client_run(&call, &answer, &err) != 0)
		return false;
	struct text out = text_trim((struct text){str_text(&answer.out), answer.out.len});
	if (!text_ends(out, " 0") || out.p[0] != '/')
		return false;
	strv_add_n(ret, out.p, out.len - 2);
	if (l->runtime->engine == ENGINE_PODMAN)
		add_configs(l, ret);
	else if (text_starts(text_of(l->runtime->endpoint), unix_scheme))
		strv_add(ret, l->runtime->endpoint + strlen(unix_scheme));
	else
		return false;
	return access(ret->v[0], R_OK) == 0;
}

/* What the choice looks at; the rest of an inspect answer is large. */
static json_t *essence(const json_t *inspect)
{
	static const char *const members[] = {
		"Id", "RepoTags", "RepoDigests", "Digest", "Architecture", "Os"};
	static const char *const config_members[] = {"Labels", "Volumes", "User"};
	json_t *kept = json_object(), *config = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		json_object_set(kept, members[i], json_object_get(inspect, members[i]));
	for (size_t i = 0; i < ARRAY_SIZE(config_members); i++)
		json_object_set(config, config_members[i],
			json_object_get(json_object_get(inspect, "Config"), config_members[i]));
	json_object_set_new(kept, "Config", config);
	return kept;
}

/* Asks the engine; NULL + err. */
static json_t *ask(const struct image_lookup *l, const struct image_reference *asked,
	const char *name, struct error *err)
{
	const char *args[] = {"image", "inspect", "--", name, NULL};
	AUTO(captured) answer = {.status = 0};
	struct client_call call = {
		.runtime = l->runtime,
		.env = l->env,
		.args = args,
		.timeout_ms = INSPECT_TIMEOUT_MS,
		.stdout_max = INSPECT_STDOUT_MAX,
		.cancel_fd = l->cancel_fd,
	};

	int r = client_run(&call, &answer, err);
	if (r == 0)
		return image_inspect_read(
			(struct text){str_text(&answer.out), answer.out.len}, err);
	struct text words = {str_text(&answer.err), answer.err.len};
	if (r > 0 && image_inspect_explain(store_of(l->runtime), asked, words, err) == 0)
		client_explain(&call, &answer, name, err);
	return NULL;
}

int image_store_look_up(const struct image_lookup *l, struct stored_image *ret, struct error *err)
{
	struct image_reference asked;
	char name[IMAGE_TEXT_MAX + 1];
	AUTO(str) key = STR_INIT(65536);
	AUTO(strv) files = STRV_INIT(REMEMBER_FILES_MAX);

	if (image_reference_parse(text_of(l->reference), &asked, err) < 0)
		return -1;
	image_reference_run_as(&asked, name);
	make_key(l, name, &key);
	struct text question = {str_text(&key), key.len};
	auto_json *known = remember_get(l->home, "image", question);
	if (known)
		return choose(l->runtime, &asked, known, ret, err);
	auto_json *stamps = store_files(l, &files) ? remember_stamps(&files) : NULL;
	auto_json *inspect = ask(l, &asked, name, err);
	if (!inspect)
		return -1;
	if (stamps) {
		auto_json *kept = essence(inspect);
		remember_put(l->home, "image", question, stamps, kept);
	}
	return choose(l->runtime, &asked, inspect, ret, err);
}
