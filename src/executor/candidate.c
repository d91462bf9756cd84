#include "executor/candidate.h"

#include "base/json.h"
#include "base/mem.h"

enum { FREE_UNKNOWN = 1 << 30 };

bool candidate_isolates(const struct candidate *c)
{
	return text_is(c->isolation, "container") || text_is(c->isolation, "vm") ||
	       text_is(c->isolation, "remote");
}

bool candidate_kernel_isolated(const struct candidate *c)
{
	return c->kernel_isolated || c->virtualized;
}

bool candidate_ready(const struct candidate *c)
{
	return c->health.len == 0 || text_is(c->health, "ready");
}

bool candidate_degraded(const struct candidate *c)
{
	return text_is(c->health, "degraded");
}

int64_t candidate_free_slots(const struct candidate *c)
{
	if (c->max_concurrent <= 0 || !c->load_known)
		return FREE_UNKNOWN;
	if (c->in_flight >= c->max_concurrent)
		return 0;
	return c->max_concurrent - (c->in_flight > 0 ? c->in_flight : 0);
}

/* The object of §12.1: member, where it lies, how it is read and written. */
enum member_type { MEMBER_TEXT, MEMBER_BOOL, MEMBER_INT, MEMBER_TEXTS, MEMBER_LABELS };

static const struct member {
	const char *name;
	enum member_type type;
	size_t offset;
	size_t count; /* lists: offset of their length; others: of the bool "it was given", or 0 */
} members[] = {
#define PLAIN(name, type) \
	{ \
#name, type, offsetof(struct candidate, name), 0 \
	}
#define GIVEN(name, type, given) \
	{ \
#name, type, offsetof(struct candidate, name), offsetof(struct candidate, given) \
	}
	PLAIN(id, MEMBER_TEXT),
	PLAIN(kind, MEMBER_TEXT),
	PLAIN(health, MEMBER_TEXT),
	PLAIN(isolation, MEMBER_TEXT),
	PLAIN(virtualized, MEMBER_BOOL),
	PLAIN(kernel_isolated, MEMBER_BOOL),
	GIVEN(labels, MEMBER_LABELS, n_labels),
	PLAIN(platform, MEMBER_TEXT),
	PLAIN(arch, MEMBER_TEXT),
	GIVEN(harnesses, MEMBER_TEXTS, n_harnesses),
	GIVEN(container_runtimes, MEMBER_TEXTS, n_container_runtimes),
	PLAIN(network_egress, MEMBER_BOOL),
	PLAIN(network_off, MEMBER_TEXT),
	PLAIN(resource_limits, MEMBER_BOOL),
	PLAIN(pids_limit, MEMBER_BOOL),
	PLAIN(disk_enforcement, MEMBER_TEXT),
	PLAIN(image_override, MEMBER_BOOL),
	PLAIN(sandbox_build, MEMBER_BOOL),
	PLAIN(sandbox_mounts, MEMBER_BOOL),
	PLAIN(host_mounts, MEMBER_BOOL),
	PLAIN(devices, MEMBER_BOOL),
	PLAIN(interfaces, MEMBER_BOOL),
	PLAIN(egress_scope, MEMBER_BOOL),
	PLAIN(workspace_provisioning, MEMBER_BOOL),
	PLAIN(shares_host_filesystem, MEMBER_BOOL),
	PLAIN(branch_bundle, MEMBER_BOOL),
	PLAIN(project_seed, MEMBER_BOOL),
	PLAIN(write_back, MEMBER_BOOL),
	PLAIN(secret_files, MEMBER_BOOL),
	PLAIN(revocation, MEMBER_BOOL),
	PLAIN(stream, MEMBER_BOOL),
	PLAIN(signal, MEMBER_BOOL),
	PLAIN(attach, MEMBER_BOOL),
	PLAIN(gated, MEMBER_BOOL),
	PLAIN(filtered_egress, MEMBER_BOOL),
	PLAIN(secret_files_from_host_path, MEMBER_BOOL),
	PLAIN(memory_mb, MEMBER_INT),
	PLAIN(max_concurrent, MEMBER_INT),
	GIVEN(in_flight, MEMBER_INT, load_known),
	GIVEN(build, MEMBER_TEXT, agent),
	PLAIN(disk_reason, MEMBER_TEXT),
	PLAIN(interfaces_reason, MEMBER_TEXT),
#undef PLAIN
#undef GIVEN
};

/* Keeps alive what a candidate that was read borrows. */
struct storage {
	json_t *object;
	struct text *lists[2]; /* harnesses, container_runtimes */
	size_t n_lists;
	struct candidate_label *labels;
};

void candidate_done(struct candidate *c)
{
	struct storage *s = c->storage;

	if (s) {
		for (size_t i = 0; i < s->n_lists; i++)
			free(s->lists[i]);
		free(s->labels);
		json_decref(s->object);
		free(s);
	}
	*c = (struct candidate){0};
}

static const struct member *find_member(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		if (strcmp(members[i].name, name) == 0)
			return &members[i];
	return NULL;
}

static bool read_texts(const json_t *value, struct storage *s, const struct text **ret)
{
	struct text *list = mem_alloc(json_array_size(value) * sizeof(*list));
	size_t i;
	json_t *item;

	s->lists[s->n_lists++] = list;
	json_array_foreach(value, i, item)
	{
		if (!json_is_string(item))
			return false;
		list[i] = json_text(item);
	}
	*ret = list;
	return json_is_array(value);
}

static bool read_labels(json_t *value, struct storage *s, const struct candidate_label **ret)
{
	const char *key;
	json_t *item;
	size_t n = 0;

	s->labels = mem_alloc(json_object_size(value) * sizeof(*s->labels));
	json_object_foreach(value, key, item)
	{
		if (!json_is_string(item))
			return false;
		s->labels[n++] = (struct candidate_label){text_of(key), json_text(item)};
	}
	*ret = s->labels;
	return json_is_object(value);
}

static bool read_member(const struct member *m, json_t *value, struct candidate *c)
{
	void *at = (char *)c + m->offset;
	void *count = (char *)c + m->count;

	switch (m->type) {
	case MEMBER_TEXT:
		*(struct text *)at = json_text(value);
		if (m->count)
			*(bool *)count = true;
		return json_is_string(value);
	case MEMBER_BOOL:
		*(bool *)at = json_is_true(value);
		return json_is_boolean(value);
	case MEMBER_INT:
		*(int64_t *)at = json_integer_value(value);
		if (m->count)
			*(bool *)count = true;
		return json_is_integer(value);
	case MEMBER_TEXTS:
		*(size_t *)count = json_array_size(value);
		return read_texts(value, c->storage, at);
	case MEMBER_LABELS:
		*(size_t *)count = json_object_size(value);
		return read_labels(value, c->storage, at);
	}
	return false;
}

int candidate_from_json(json_t *object, struct candidate *ret, struct error *err)
{
	AUTO(candidate) c = {0};
	struct storage *s = mem_alloc(sizeof(*s));
	const char *key;
	json_t *value;

	s->object = json_incref(object);
	c.storage = s;
	if (!json_is_object(object))
		return error_set(err, ERROR_USAGE, "an executor's capabilities are not an object");
	json_object_foreach(object, key, value)
	{
		const struct member *m = find_member(key);
		if (!m)
			return error_set(
				err, ERROR_USAGE, "unknown capability %s", quoted_string(key));
		if (!json_is_null(value) && !read_member(m, value, &c))
			return error_set(err, ERROR_USAGE, "capability %s has another type", key);
	}
	*ret = c;
	c = (struct candidate){0};
	return 0;
}

static json_t *texts_to_json(const struct text *list, size_t n)
{
	json_t *array = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(array, json_from_bytes(list[i]));
	return array;
}

static json_t *labels_to_json(const struct candidate_label *labels, size_t n)
{
	json_t *object = json_object();

	for (size_t i = 0; i < n; i++) {
		auto_free char *key = mem_strndup(labels[i].key.p, labels[i].key.len);
		json_object_set_new(object, key, json_from_bytes(labels[i].value));
	}
	return object;
}

static json_t *member_to_json(const struct member *m, const struct candidate *c)
{
	const void *at = (const char *)c + m->offset;
	const void *count = (const char *)c + m->count;

	switch (m->type) {
	case MEMBER_TEXT:
		if (m->count && !*(const bool *)count)
			return json_null();
		return json_from_bytes(*(const struct text *)at);
	case MEMBER_BOOL:
		return json_boolean(*(const bool *)at);
	case MEMBER_INT:
		if (m->count && !*(const bool *)count)
			return json_null();
		return json_integer(*(const int64_t *)at);
	case MEMBER_TEXTS:
		return texts_to_json(*(const struct text *const *)at, *(const size_t *)count);
	case MEMBER_LABELS:
		return labels_to_json(
			*(const struct candidate_label *const *)at, *(const size_t *)count);
	}
	return json_null();
}

json_t *candidate_to_json(const struct candidate *c)
{
	json_t *object = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		json_object_set_new(object, members[i].name, member_to_json(&members[i], c));
	return object;
}
