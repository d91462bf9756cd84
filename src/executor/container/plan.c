#include "executor/container/plan.h"

#include <string.h>

#include "base/enum-text.h"
#include "base/mem.h"

static const char *const kind_names[] = {
	[PLAN_MOUNT_GIVEN] = "given",
	[PLAN_MOUNT_MAKE] = "make",
	[PLAN_MOUNT_GUEST] = "guest",
	[PLAN_MOUNT_CTL] = "ctl",
	[PLAN_MOUNT_HOSTS] = "hosts",
	[PLAN_MOUNT_RESOLV] = "resolv",
	[PLAN_MOUNT_STAGE] = "stage",
};
static_assert(ARRAY_SIZE(kind_names) == PLAN_MOUNT_KIND_COUNT, "a name for every kind of mount");

/* Members of the plan that are plain strings or numbers, for both directions. */
static const struct {
	const char *key;
	size_t offset;
} string_members[] =
	{
		{"handle", offsetof(struct plan, handle)},
		{"executor_id", offsetof(struct plan, executor_id)},
		{"project", offsetof(struct plan, project)},
		{"container_name", offsetof(struct plan, container_name)},
		{"image", offsetof(struct plan, image)},
		{"guest", offsetof(struct plan, guest)},
		{"hosts", offsetof(struct plan, hosts)},
},
  list_members[] =
	  {
		  {"engine_argv", offsetof(struct plan, engine_argv)},
		  {"client_env", offsetof(struct plan, client_env)},
		  {"command", offsetof(struct plan, command)},
		  {"volumes", offsetof(struct plan, volumes)},
		  {"absent", offsetof(struct plan, absent)},
		  {"redact", offsetof(struct plan, redact)},
},
  number_members[] = {
	  {"start_timeout_ms", offsetof(struct plan, start_timeout_ms)},
	  {"stop_grace_ms", offsetof(struct plan, stop_grace_ms)},
	  {"timeout_ms", offsetof(struct plan, timeout_ms)},
	  {"log_max_mb", offsetof(struct plan, log_max_mb)},
	  {"min_free_mb", offsetof(struct plan, min_free_mb)},
};

#define MEMBER(plan, offset, type) ((type *)((char *)(plan) + (offset)))
#define CONST_MEMBER(plan, offset, type) ((type const *)((const char *)(plan) + (offset)))

void plan_done(struct plan *p)
{
	for (size_t i = 0; i < ARRAY_SIZE(string_members); i++)
		free(*MEMBER(p, string_members[i].offset, char *));
	for (size_t i = 0; i < ARRAY_SIZE(list_members); i++)
		strv_done(MEMBER(p, list_members[i].offset, struct strv));
	for (size_t i = 0; i < p->n_mounts; i++) {
		free(p->mounts[i].source);
		free(p->mounts[i].target);
	}
	runtime_done(&p->runtime);
	plan_lease_done(&p->lease);
	plan_egress_done(&p->egress);
	plan_hardware_done(&p->hardware);
	plan_network_done(&p->network);
	*p = PLAN_INIT;
}

int plan_add_mount(struct plan *p, enum plan_mount_kind kind, const char *source,
	const char *target, bool read_only)
{
	if (p->n_mounts >= PLAN_MOUNTS_MAX)
		return -1;
	p->mounts[p->n_mounts++] = (struct plan_mount){
		.kind = kind,
		.source = mem_strdup(source),
		.target = mem_strdup(target),
		.read_only = read_only,
	};
	return 0;
}

static json_t *mounts_to_json(const struct plan *p)
{
	json_t *array = json_array();

	for (size_t i = 0; i < p->n_mounts; i++) {
		const struct plan_mount *m = &p->mounts[i];
		json_array_append_new(
			array, json_pack("{s:s, s:o, s:o, s:b}", "kind", kind_names[m->kind],
				       "source", json_exact(m->source), "target",
				       json_exact(m->target), "read_only", m->read_only));
	}
	return array;
}

static int mounts_from_json(const json_t *array, struct plan *p)
{
	size_t i;
	json_t *m;

	if (!json_is_array(array))
		return -1;
	json_array_foreach(array, i, m)
	{
		auto_free char *source = json_exact_bytes(json_object_get(m, "source"));
		auto_free char *target = json_exact_bytes(json_object_get(m, "target"));
		int kind = enum_from_text(
			kind_names, ARRAY_SIZE(kind_names), json_get_text(m, "kind"));
		if (!source || !target || kind < 0 ||
			plan_add_mount(p, (enum plan_mount_kind)kind, source, target,
				json_get_bool(m, "read_only", true)) < 0)
			return -1;
	}
	return p->n_mounts > 0 ? 0 : -1;
}

json_t *plan_to_json(const struct plan *p)
{
	json_t *j = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(string_members); i++)
		json_object_set_new(j, string_members[i].key,
			json_exact(*CONST_MEMBER(p, string_members[i].offset, char *)));
	for (size_t i = 0; i < ARRAY_SIZE(list_members); i++)
		json_object_set_new(j, list_members[i].key,
			json_exact_list(CONST_MEMBER(p, list_members[i].offset, struct strv)));
	for (size_t i = 0; i < ARRAY_SIZE(number_members); i++)
		json_object_set_new(j, number_members[i].key,
			json_integer(*CONST_MEMBER(p, number_members[i].offset, int64_t)));
	json_object_set_new(j, "uid", json_integer(p->uid));
	json_object_set_new(j, "gid", json_integer(p->gid));
	json_object_set_new(j, "standalone", json_boolean(p->standalone));
	json_object_set_new(j, "virtualized", json_boolean(p->virtualized));
	json_object_set_new(j, "runtime",
		json_pack("{s:s, s:o, s:b, s:o}", "engine", engine_text(p->runtime.engine), "path",
			json_exact(p->runtime.path), "rootless", p->runtime.rootless, "endpoint",
			json_exact(p->runtime.endpoint)));
	json_object_set_new(j, "asked",
		json_pack("{s:I, s:I, s:I}", "cpu_millis", (json_int_t)p->asked.cpu_millis,
			"memory_mb", (json_int_t)p->asked.memory_mb, "pids",
			(json_int_t)p->asked.pids));
	json_object_set_new(j, "mounts", mounts_to_json(p));
	json_object_set_new(j, "lease", plan_lease_to_json(&p->lease));
	json_object_set_new(j, "egress", plan_egress_to_json(&p->egress));
	json_object_set_new(j, "hardware", plan_hardware_to_json(&p->hardware));
	json_object_set_new(j, "disk", plan_disk_to_json(&p->disk));
	json_object_set_new(j, "network", plan_network_to_json(&p->network));
	return j;
}

static int missing(struct error *err, const char *key)
{
	return error_set(
		err, ERROR_IO, "request.json: member %s is missing or of the wrong type", key);
}

static int runtime_from_json(const json_t *j, struct runtime *ret, struct error *err)
{
	int engine = engine_from_text(json_get_text(j, "engine"));

	if (engine < 0)
		return missing(err, "runtime");
	ret->engine = (enum engine)engine;
	ret->rootless = json_get_bool(j, "rootless", false);
	ret->path = json_exact_bytes(json_object_get(j, "path"));
	ret->endpoint = json_exact_bytes(json_object_get(j, "endpoint"));
	return ret->path ? 0 : missing(err, "runtime.path");
}

static void limits_from_json(const json_t *j, struct argv_limits *ret)
{
	*ret = (struct argv_limits){
		.cpu_millis = (uint64_t)json_get_int(j, "cpu_millis", 0),
		.memory_mb = (uint64_t)json_get_int(j, "memory_mb", 0),
		.pids = json_get_int(j, "pids", -1),
	};
}

int plan_from_json(json_t *j, struct plan *ret, struct error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(string_members); i++) {
		char *s = json_exact_bytes(json_object_get(j, string_members[i].key));
		if (!s)
			return missing(err, string_members[i].key);
		*MEMBER(ret, string_members[i].offset, char *) = s;
	}
	for (size_t i = 0; i < ARRAY_SIZE(list_members); i++)
		if (json_exact_list_bytes(json_object_get(j, list_members[i].key),
			    MEMBER(ret, list_members[i].offset, struct strv)) < 0)
			return missing(err, list_members[i].key);
	for (size_t i = 0; i < ARRAY_SIZE(number_members); i++)
		*MEMBER(ret, number_members[i].offset, int64_t) =
			json_get_int(j, number_members[i].key, 0);
	if (runtime_from_json(json_object_get(j, "runtime"), &ret->runtime, err) < 0)
		return -1;
	if (mounts_from_json(json_object_get(j, "mounts"), ret) < 0)
		return missing(err, "mounts");
	if (plan_lease_from_json(json_object_get(j, "lease"), &ret->lease) < 0)
		return missing(err, "lease");
	if (plan_egress_from_json(json_object_get(j, "egress"), &ret->egress) < 0)
		return missing(err, "egress");
	if (plan_disk_from_json(json_object_get(j, "disk"), &ret->disk) < 0)
		return missing(err, "disk");
	if (plan_hardware_from_json(json_object_get(j, "hardware"), &ret->hardware) < 0)
		return missing(err, "hardware");
	if (plan_network_from_json(json_object_get(j, "network"), &ret->network) < 0)
		return missing(err, "network");
	limits_from_json(json_object_get(j, "asked"), &ret->asked);
	ret->uid = (uid_t)json_get_int(j, "uid", 0);
	ret->gid = (gid_t)json_get_int(j, "gid", 0);
	ret->standalone = json_get_bool(j, "standalone", false);
	ret->virtualized = json_get_bool(j, "virtualized", false);
	return 0;
}
