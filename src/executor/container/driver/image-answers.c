#include "executor/container/driver/image-answers.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "executor/container/remember.h"
#include "executor/rundir/home.h"

enum { INSPECT_TIMEOUT_MS = 30000, INSPECT_STDOUT_MAX = 4 << 20 };

void image_answers_done(struct image_answers *a)
{
	strv_done(&a->files);
}

enum image_store image_answers_store(const struct runtime *runtime)
{
	return runtime->engine == ENGINE_PODMAN ? IMAGE_STORE_PODMAN : IMAGE_STORE_DOCKER;
}

/* The key of a kept answer: everything that decides which store is asked for what. */
static void make_key(const struct image_answers *a, const char *name, struct str *ret)
{
	str_addf(ret, "%s\n%s\n", a->runtime->path, name);
	strv_foreach (entry, a->env)
		str_addf(ret, "%s\n", *entry);
}

/* Where the client is told, or looks by itself, what its store is. */
static void add_configs(const struct image_answers *a, struct strv *ret)
{
	static const struct {
		const char *variable, *below;
	} given[] = {
		{"CONTAINERS_STORAGE_CONF=", ""}, {"XDG_CONFIG_HOME=", "/containers/storage.conf"}};
	auto_free char *home = home_of_user();

	strv_add(ret, "/usr/share/containers/storage.conf");
	strv_add(ret, "/etc/containers/storage.conf");
	strv_addf(ret, "%s/.config/containers/storage.conf", home);
	strv_foreach (entry, a->env)
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

static struct client_call call_of(
	const struct image_answers *a, const char *const *args, size_t stdout_max)
{
	return (struct client_call){
		.runtime = a->runtime,
		.env = a->env,
		.args = args,
		.timeout_ms = INSPECT_TIMEOUT_MS,
		.stdout_max = stdout_max,
		.cancel_fd = a->cancel_fd,
	};
}

/*
 * The files that the answer comes from: the store's list of images (replaced as a whole at every
 * pull, build, tag and removal; podman 4.3, containers-storage 1.43; docker 20.10 with its own
 * store, readable by root only) and what says where the store is: podman's configuration, docker's
 * socket, which every daemon makes anew. False: not known, or there are further stores; then
 * nothing is kept.
 */
static bool store_files(const struct image_answers *a, struct strv *ret)
{
	const char *args[] = {"info", list_formats[a->runtime->engine], NULL};
	auto_error struct error err = ERROR_INIT;
	AUTO(captured) answer = {.status = 0};
	struct client_call call = call_of(a, args, 8192);

	if (!a->home || client_run(&call, &answer, &err) != 0)
		return false;
	struct text out = text_trim((struct text){str_text(&answer.out), answer.out.len});
	if (!text_ends(out, " 0") || out.p[0] != '/')
		return false;
	strv_add_n(ret, out.p, out.len - 2);
	if (a->runtime->engine == ENGINE_PODMAN)
		add_configs(a, ret);
	else if (runtime_socket(a->runtime))
		strv_add(ret, runtime_socket(a->runtime));
	else
		return false;
	return access(ret->v[0], R_OK) == 0;
}

/* Stamps to keep an answer with, or NULL: it is not kept. */
static json_t *stamps_of(struct image_answers *a)
{
	AUTO(strv) files = STRV_INIT(REMEMBER_FILES_MAX);

	if (!a->looked && store_files(a, &files)) {
		a->files = files;
		files = (struct strv){.v = NULL};
	}
	a->looked = true;
	return a->files.n > 0 ? remember_stamps(&a->files) : NULL;
}

static void take(const json_t *from, const char *const *members, json_t *to)
{
	for (; *members; members++)
		json_object_set(to, *members, json_object_get(from, *members));
}

/* What is looked at; the rest of an inspect answer is large. */
static json_t *essence(const json_t *inspect)
{
	static const char *const members[] = {
		"Id", "RepoTags", "RepoDigests", "Digest", "Architecture", "Os", NULL};
	static const char *const config_members[] = {"Labels", "Volumes", "User", NULL};
	static const char *const rootfs_members[] = {"Layers", NULL};
	json_t *kept = json_object(), *config = json_object(), *rootfs = json_object();

	take(inspect, members, kept);
	take(json_object_get(inspect, "Config"), config_members, config);
	take(json_object_get(inspect, "RootFS"), rootfs_members, rootfs);
	json_object_set_new(kept, "Config", config);
	json_object_set_new(kept, "RootFS", rootfs);
	return kept;
}

/* Asks the engine; NULL + err. asked: NULL for an ID. */
static json_t *ask(const struct image_answers *a, const struct image_reference *asked,
	const char *name, struct error *err)
{
	const char *args[] = {"image", "inspect", "--", name, NULL};
	AUTO(captured) answer = {.status = 0};
	struct client_call call = call_of(a, args, INSPECT_STDOUT_MAX);

	int r = client_run(&call, &answer, err);
	if (r == 0)
		return image_inspect_read(
			(struct text){str_text(&answer.out), answer.out.len}, err);
	struct text words = {str_text(&answer.err), answer.err.len};
	if (r > 0 && (!asked || image_inspect_explain(
					image_answers_store(a->runtime), asked, words, err) == 0))
		client_explain(&call, &answer, name, err);
	return NULL;
}

json_t *image_answers_get(
	struct image_answers *a, const struct image_reference *asked, struct error *err)
{
	char name[IMAGE_TEXT_MAX + 1];
	AUTO(str) key = STR_INIT(65536);

	image_reference_run_as(asked, name);
	make_key(a, name, &key);
	struct text question = {str_text(&key), key.len};
	json_t *known = remember_get(a->home, "inspect", question);
	if (known)
		return known;
	auto_json *stamps = stamps_of(a);
	auto_json *inspect = ask(a, asked, name, err);
	if (!inspect)
		return NULL;
	json_t *kept = essence(inspect);
	if (stamps)
		remember_put(a->home, "inspect", question, stamps, kept);
	return kept;
}

json_t *image_answers_ask_id(const struct image_answers *a, const char *id, struct error *err)
{
	return ask(a, NULL, id, err);
}
