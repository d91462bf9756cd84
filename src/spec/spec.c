#include "spec/spec.h"

#include <assert.h>

#include "base/mem.h"
#include "spec/spec-hash.h"
#include "spec/spec-keys.h"
#include "yaml/reader.h"

static void list_done(struct schema_list *l)
{
	strv_done(&l->items);
	l->given = false;
}

void spec_done(struct sandbox_spec *s)
{
	struct spec_mount *mounts = s->mounts.v;

	for (size_t i = 0; i < s->mounts.n; i++) {
		free(mounts[i].source);
		free(mounts[i].target);
	}
	free(mounts);
	free(s->image);
	free(s->capabilities.network);
	free(s->capabilities.egress);
	list_done(&s->setup);
	list_done(&s->env);
	list_done(&s->capabilities.devices);
	list_done(&s->capabilities.interfaces);
	*s = (struct sandbox_spec){0};
}

const struct spec_mount *spec_mount_at(const struct sandbox_spec *s, size_t i)
{
	assert(i < s->mounts.n);
	return (const struct spec_mount *)s->mounts.v + i;
}

void spec_result_init(struct spec_result *r)
{
	*r = (struct spec_result){
		.ok = true,
		.errors = PROBLEMS_INIT(PROBLEMS_ERRORS_MAX),
		.warnings = PROBLEMS_INIT(PROBLEMS_WARNINGS_MAX),
	};
}

void spec_result_done(struct spec_result *r)
{
	spec_done(&r->spec);
	free(r->refused_image);
	problems_done(&r->errors);
	problems_done(&r->warnings);
}

static void refused(struct spec_result *r)
{
	spec_done(&r->spec);
	r->ok = false;
	r->present = true;
}

void spec_result_refuse(struct spec_result *r, enum problem_code code, const char *message)
{
	problems_add(&r->errors, code, POSITION_NONE, "", "%s", message);
	refused(r);
}

static const char *const places[] = {"image", "setup", "mounts", "resources", "resources.pids",
	"resources.disk", "capabilities.git", "capabilities.network", "capabilities.egress",
	"capabilities.devices", "capabilities.interfaces", "capabilities.virtualized",
	"capabilities.kernel_isolated"};

static_assert(ARRAY_SIZE(places) == SPEC_PLACES, "a position for every place");

static void locate(const struct node *root, struct spec_result *r)
{
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		const struct node *n = root ? node_find(root, places[i]) : NULL;
		r->at[i] = n ? n->at : POSITION_NONE;
	}
}

struct position spec_result_at(const struct spec_result *r, const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (strcmp(places[i], path) == 0)
			return r->at[i];
	return POSITION_NONE;
}

static void bind(const struct tree *tree, const struct spec_checks *checks, struct spec_result *r)
{
	struct spec_checks copy = *checks;
	struct schema_bind b = {
		.errors = &r->errors, .warnings = &r->warnings, .tree = tree, .data = &copy};

	schema_bind_document(&b, spec_keys_schema(), &r->spec);
	const struct node *image = tree->root ? node_find(tree->root, "image") : NULL;
	locate(tree->root, r);
	if (!image || !problems_has(&r->errors, PROBLEM_REFERENCE_SYNTAX))
		return;
	r->refused_image = mem_strndup(image->text.p, image->text.len);
	r->refused_image_len = image->text.len;
}

void spec_parse(struct text bytes, const struct spec_checks *checks, struct spec_result *ret)
{
	static const struct reader_rules rules = {
		.max_events = READER_SANDBOX_EVENTS, .private_key = "env"};
	AUTO(tree) tree = TREE_INIT;

	spec_result_init(ret);
	if (bytes.len > SPEC_MAX_BYTES) {
		spec_result_refuse(
			ret, PROBLEM_FILE_TOO_LARGE, "the file has more than 65536 bytes");
		return;
	}
	if (reader_read(bytes, &rules, &ret->errors, &tree) == 0)
		bind(&tree, checks, ret);
	problems_finish(&ret->errors);
	problems_finish(&ret->warnings);
	if (ret->errors.n > 0)
		refused(ret);
	else
		ret->present = spec_hash(&ret->spec, ret->sha256, ret->setup_sha256);
}

int spec_result_error(const struct spec_result *r, struct error *err)
{
	AUTO(str) joined = STR_INIT(ERROR_TEXT_MAX - sizeof("sandbox: invalid spec: "));

	problems_summary(&r->errors, SPEC_PATH, &joined);
	error_set(err, ERROR_SANDBOX_INVALID_SPEC, "sandbox: invalid spec: %s", str_text(&joined));
	return error_add_detail(err, "errors", problems_to_json(&r->errors));
}
