#include "runner/request-json.h"

#include "base/mem.h"

static const char *const spec_fields[] = {"handle", "run_dir", "work_dir", "owner", "argv", "image",
	"env", "limits", "disable_network", "egress_scope", "network", "dns", "ipv6", "mounts",
	"host_mounts", "secret_dirs", "guest_binary", "devices", "interfaces", "labels",
	"sandbox_sha256", "project_files"};

void request_input_done(struct request_input *in)
{
	for (size_t i = 0; i < in->n_memory; i++)
		free(in->memory[i]);
	in->n_memory = 0;
	container_options_done(&in->options);
	runtime_done(&in->runtime);
}

static void *list(struct request_input *in, size_t n, size_t size)
{
	return in->memory[in->n_memory++] = mem_alloc((n ? n : 1) * size);
}

static const struct text *read_texts(struct request_input *in, json_t *array, size_t *ret_n)
{
	struct text *v = list(in, json_array_size(array), sizeof(*v));

	*ret_n = json_array_size(array);
	for (size_t i = 0; i < *ret_n; i++)
		v[i] = json_text(json_array_get(array, i));
	return v;
}

static const struct request_mount *read_mounts(
	struct request_input *in, json_t *array, size_t *ret_n)
{
	struct request_mount *v = list(in, json_array_size(array), sizeof(*v));

	*ret_n = json_array_size(array);
	for (size_t i = 0; i < *ret_n; i++) {
		json_t *m = json_array_get(array, i);
		v[i] = (struct request_mount){json_get_text(m, "name"), json_get_text(m, "source"),
			json_get_text(m, "target"), json_get_bool(m, "read_only", false)};
	}
	return v;
}

static void read_grants(struct request_input *in, json_t *spec)
{
	struct container_request *r = &in->request;
	json_t *devices = json_object_get(spec, "devices");
	json_t *interfaces = json_object_get(spec, "interfaces");
	struct request_device *d = list(in, json_array_size(devices), sizeof(*d));
	struct request_interface *f = list(in, json_array_size(interfaces), sizeof(*f));
	json_t *o;

	json_array_foreach(devices, r->n_devices, o) d[r->n_devices] =
		(struct request_device){json_get_text(o, "name"), json_get_text(o, "source"),
			json_get_text(o, "target"), json_get_text(o, "permissions")};
	json_array_foreach(interfaces, r->n_interfaces, o) f[r->n_interfaces] =
		(struct request_interface){json_get_text(o, "name"), json_get_text(o, "source"),
			json_get_text(o, "target"), json_get_text(o, "address"),
			json_get_text(o, "gateway"), json_get_int(o, "mtu", 0)};
	r->devices = d;
	r->interfaces = f;
}

static void read_labels(struct request_input *in, json_t *labels)
{
	struct request_label *v = list(in, json_object_size(labels), sizeof(*v));
	const char *key;
	json_t *value;

	json_object_foreach(labels, key, value) v[in->request.n_labels++] =
		(struct request_label){text_of(key), json_text(value)};
	in->request.labels = v;
}

static uint64_t amount(json_t *limits, const char *key)
{
	int64_t n = json_get_int(limits, key, 0);

	return n > 0 ? (uint64_t)n : 0;
}

static void read_limits(struct container_request *r, json_t *limits)
{
	r->has_limits = json_is_object(limits);
	r->limits = (struct limits){amount(limits, "cpu_millis"), amount(limits, "memory_mb"),
		amount(limits, "pids"), amount(limits, "disk_mb")};
}

static void read_project_files(struct container_request *r, json_t *files)
{
	static const char *const kinds[] = {[PATH_ABSENT] = "absent",
		[PATH_DIR] = "dir",
		[PATH_FILE] = "file",
		[PATH_SYMLINK] = "symlink",
		[PATH_OTHER] = "other"};

	for (size_t f = 0; f < PROJECT_FILE_COUNT; f++) {
		struct text kind = json_get_text(files, project_file_path((enum project_file)f));
		for (size_t k = 0; k < PATH_KIND_COUNT; k++)
			if (text_is(kind, kinds[k]))
				r->project_files[f] = (enum path_kind)k;
	}
}

static void read_host(struct request_host *h, json_t *o)
{
	const char *home_id = json_get_string(o, "home_id");
	const char *guest = json_get_string(o, "guest");

	*h = (struct request_host){
		.home_id = text_of(home_id ? home_id : "00112233aabbccdd"),
		.cpus = (unsigned)json_get_int(o, "cpus", 8),
		.nofile_hard = json_get_int(o, "nofile_hard", 1048576),
		.nproc_hard = json_get_int(o, "nproc_hard", -1),
		.pid_max = json_get_int(o, "pid_max", 4194304),
		.guest = text_of(
			guest ? guest : "/var/lib/cloop/guest/0123456789abcdef/cloop-guest"),
		.user_home = TEXT("/root"),
		.cloop_home = TEXT("/var/lib/cloop"),
	};
}

static int read_spec(struct request_input *in, json_t *spec, struct error *err)
{
	struct container_request *r = &in->request;
	json_t *owner = json_object_get(spec, "owner");
	const char *key;
	json_t *value;

	json_object_foreach(spec, key, value)
	{
		bool known = false;
		for (size_t i = 0; i < ARRAY_SIZE(spec_fields); i++)
			known = known || strcmp(spec_fields[i], key) == 0;
		if (!known)
			return error_set(err, ERROR_USAGE, "unknown member %s of spec", key);
	}
	r->handle = json_get_text(spec, "handle");
	r->run_dir = json_get_text(spec, "run_dir");
	r->work_dir = json_get_text(spec, "work_dir");
	r->owner_uid = (uid_t)json_get_int(owner, "uid", 0);
	r->owner_gid = (gid_t)json_get_int(owner, "gid", 0);
	r->argv = read_texts(in, json_object_get(spec, "argv"), &r->n_argv);
	r->image = json_get_text(spec, "image");
	r->env = read_texts(in, json_object_get(spec, "env"), &r->n_env);
	read_limits(r, json_object_get(spec, "limits"));
	r->disable_network = json_get_bool(spec, "disable_network", false);
	r->egress_scope = json_get_text(spec, "egress_scope");
	r->network = json_get_text(spec, "network");
	r->dns = read_texts(in, json_object_get(spec, "dns"), &r->n_dns);
	r->ipv6 = json_get_bool(spec, "ipv6", false);
	r->mounts = read_mounts(in, json_object_get(spec, "mounts"), &r->n_mounts);
	r->host_mounts = read_mounts(in, json_object_get(spec, "host_mounts"), &r->n_host_mounts);
	r->secret_dirs = read_mounts(in, json_object_get(spec, "secret_dirs"), &r->n_secret_dirs);
	r->guest_binary = json_get_bool(spec, "guest_binary", false);
	r->sandbox_sha256 = json_get_text(spec, "sandbox_sha256");
	read_grants(in, spec);
	read_labels(in, json_object_get(spec, "labels"));
	read_project_files(r, json_object_get(spec, "project_files"));
	return 0;
}

int request_input_read(json_t *object, struct request_input *ret, struct error *err)
{
	json_t *runtime = json_object_get(object, "runtime");
	int engine = engine_from_text(json_get_text(runtime, "name"));
	struct container_options raw;

	*ret = (struct request_input){.runtime = RUNTIME_INIT};
	container_options_init(&ret->options);
	if (engine < 0)
		return error_set(err, ERROR_USAGE, "runtime.name is no engine");
	ret->runtime.engine = (enum engine)engine;
	ret->runtime.rootless = json_get_bool(runtime, "rootless", false);
	read_host(&ret->host, json_object_get(object, "host"));
	if (read_spec(ret, json_object_get(object, "spec"), err) < 0)
		return -1;
	container_options_init(&raw);
	int r = container_options_from_json(json_object_get(object, "options"), &raw, err);
	if (r == 0)
		r = container_options_normalize(&raw, &ret->options, err);
	container_options_done(&raw);
	return r;
}
