#include "spec/spec-keys.h"

#include "schema/value.h"
#include "spec/mount-path.h"
#include "spec/spec.h"
#include "yaml/bytes.h"

/* ---- image, setup, env ---- */

static bool check_image(struct schema_bind *b, const struct schema_key *key, const struct node *n,
	struct text value)
{
	const struct spec_checks *checks = b->data;
	auto_error struct error err = ERROR_INIT;

	(void)key;
	if (checks->image(value, &err) == 0)
		return true;
	schema_problem(b, PROBLEM_REFERENCE_SYNTAX, n,
		"malformed image reference %s (rule: reference-syntax): %s", schema_quoted(value),
		err.message);
	problems_set_remedy(b->errors, "%s", error_remedy(&err));
	return false;
}

static bool check_command(struct schema_bind *b, const struct schema_key *key, const struct node *n,
	struct text value)
{
	enum problem_code code = PROBLEM_NONE;

	(void)key;
	if (text_has_byte(value, '\n') || text_has_byte(value, '\r'))
		code = PROBLEM_MULTILINE;
	else if (bytes_has_refused(value))
		code = PROBLEM_CONTROL_CHARACTER;
	else if (text_starts(value, "--"))
		code = PROBLEM_LEADING_DASHES;
	if (code == PROBLEM_NONE)
		return true;
	schema_problem(b, code, n, "the command %s %s", schema_quoted(value),
		code == PROBLEM_MULTILINE           ? "has more than one line"
		: code == PROBLEM_CONTROL_CHARACTER ? "holds a control character"
						    : "begins with --");
	return false;
}

static bool is_variable_name(struct text t)
{
	return !ascii_digit(t.p[0]) && text_all_word(t, "_");
}

/* What stands right of `=` may be a secret: it is never shown. */
static bool check_variable(struct schema_bind *b, const struct schema_key *key,
	const struct node *n, struct text value)
{
	(void)key;
	if (is_variable_name(value))
		return true;
	const char *equals = memchr(value.p, '=', value.len);
	if (equals) {
		schema_problem(b, PROBLEM_BAD_NAME, n, "%s holds more than the name of a variable",
			schema_quoted((struct text){value.p, (size_t)(equals - value.p) + 1}));
		problems_set_remedy(b->errors,
			"write the name alone: values come from grants, never from this file");
		return false;
	}
	schema_problem(
		b, PROBLEM_BAD_NAME, n, "%s is not the name of a variable", schema_quoted(value));
	problems_set_remedy(b->errors, "letters, digits and underscore, not beginning with a "
				       "digit; names are no patterns");
	return false;
}

/* ---- capabilities ---- */

static bool check_network(struct schema_bind *b, const struct schema_key *key, const struct node *n,
	struct text value)
{
	static const char *const words[] = {
		"true", "false", "yes", "no", "on", "off", "none", "null"};

	(void)key;
	if (!text_all_word(value, "_.:-")) {
		schema_problem(b, PROBLEM_BAD_NAME, n, "%s is not the ID of an egress grant",
			schema_quoted(value));
		problems_set_remedy(b->errors, "cloop egress list shows the IDs (egress_...)");
		return false;
	}
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (!text_is_nocase(value, words[i]))
			continue;
		schema_problem(b, PROBLEM_NOT_A_GRANT_ID, n, "no grant can have the ID %s",
			schema_quoted(value));
		return false;
	}
	if (!text_starts(value, "egress_"))
		schema_warning(b, PROBLEM_UNMINTED_ID, n,
			"%s does not begin with egress_: it will most likely be denied",
			schema_quoted(value));
	return true;
}

static bool check_handle(struct schema_bind *b, const struct schema_key *key, const struct node *n,
	struct text value)
{
	(void)key;
	if (ascii_alnum(value.p[0]) && text_all_word(value, "._-"))
		return true;
	schema_problem(
		b, PROBLEM_BAD_NAME, n, "%s is not the name of a grant", schema_quoted(value));
	problems_set_remedy(b->errors,
		"letters, digits, dot, underscore and dash, beginning with a letter or digit");
	return false;
}

static void across_capabilities(struct schema_bind *b, const struct schema_section *s, void *out)
{
	const struct spec_capabilities *c = out;
	const struct node *egress = section_value(s, "egress");
	bool egress_valid = section_valid(s, "egress");

	if (egress_valid && section_valid(s, "network") && strcmp(c->egress, "none") == 0) {
		schema_problem(b, PROBLEM_CONTRADICTION, egress,
			"egress: none takes away the network that capabilities.network names");
		problems_set_remedy(b->errors, "remove egress or network");
	}
	if (section_given(s, "network"))
		return;
	if (section_valid(s, "interfaces") && c->interfaces.items.n > 0) {
		schema_problem(b, PROBLEM_CONTRADICTION, section_value(s, "interfaces"),
			"an interface is asked for while the run has no network");
		problems_set_remedy(b->errors,
			"name a grant in capabilities.network, or remove the interfaces");
	}
	if (egress_valid && strcmp(c->egress, "public") == 0)
		schema_warning(b, PROBLEM_EGRESS_WITHOUT_NETWORK, egress,
			"without capabilities.network the run has no network at all");
}

/* ---- mounts ---- */

static const char *path_fault_text(enum problem_code code)
{
	switch (code) {
	case PROBLEM_CONTROL_CHARACTER:
		return "holds a control character";
	case PROBLEM_COLON:
		return "holds a colon";
	case PROBLEM_BACKSLASH:
		return "holds a backslash";
	case PROBLEM_ABSOLUTE_PATH:
		return "is absolute";
	case PROBLEM_RELATIVE_PATH:
		return "is not absolute";
	case PROBLEM_DOTDOT:
		return "leads upwards";
	case PROBLEM_WORKSPACE_ROOT:
		return "is the project itself";
	case PROBLEM_TOO_LONG:
		return "has a component of more than 255 bytes";
	case PROBLEM_RESERVED_TARGET:
		return "is a path that the sandbox needs itself";
	default:
		return "is not in its clean form";
	}
}

static bool judge_path(
	struct schema_bind *b, const struct node *n, struct text value, enum problem_code fault)
{
	AUTO(str) clean = STR_INIT(MOUNT_PATH_MAX);

	if (fault == PROBLEM_NONE)
		return true;
	schema_problem(b, fault, n, "the path %s %s", schema_quoted(value), path_fault_text(fault));
	if (fault == PROBLEM_NOT_CLEAN) {
		mount_path_clean(value, &clean);
		problems_set_remedy(b->errors, "write %s", str_text(&clean));
	}
	return false;
}

static bool check_source(struct schema_bind *b, const struct schema_key *key, const struct node *n,
	struct text value)
{
	(void)key;
	return judge_path(b, n, value, mount_path_source_fault(value));
}

static bool check_target(struct schema_bind *b, const struct schema_key *key, const struct node *n,
	struct text value)
{
	(void)key;
	return judge_path(b, n, value, mount_path_target_fault(value));
}

static void across_mount(struct schema_bind *b, const struct schema_section *s, void *out)
{
	const struct spec_mount *m = out;

	if (section_valid(s, "source") && !m->read_only && mount_path_protected(text_of(m->source)))
		schema_problem(b, PROBLEM_PROTECTED_SOURCE, section_value(s, "source"),
			"%s is protected at /workspace; a second, writable view would undo that",
			schema_quoted(text_of(m->source)));
}

/* Rules 13 and 14 of one target against the valid ones before it. False: refused. */
static bool judge_target(struct schema_bind *b, const struct node *entry,
	const struct spec_mount *mounts, const bool *valid, size_t i)
{
	const struct node *n = node_key(entry, "target")->value;
	struct text target = mount_path_canonical(text_of(mounts[i].target));
	size_t nested = i;

	for (size_t j = 0; j < i; j++) {
		struct text other = mount_path_canonical(text_of(valid[j] ? mounts[j].target : ""));
		if (text_equal(target, other)) {
			schema_problem(b, PROBLEM_DUPLICATE_TARGET, n,
				"%s is the target of mounts[%zu] already",
				schema_quoted(text_of(mounts[i].target)), j);
			return false;
		}
		if (valid[j] && nested == i &&
			(mount_path_below(target, other) || mount_path_below(other, target)))
			nested = j;
	}
	if (nested == i)
		return true;
	schema_problem(b, PROBLEM_NESTED_TARGET, n,
		"%s and %s, the target of mounts[%zu], lie in "
		"each other",
		schema_quoted(text_of(mounts[i].target)),
		schema_quoted(text_of(mounts[nested].target)), nested);
	return false;
}

static void after_mounts(struct schema_bind *b, const struct schema_key *key,
	const struct node *list, struct schema_entries *entries)
{
	const struct spec_mount *mounts = entries->v;
	const struct node *entry = list->first;
	bool valid[SPEC_MAX_MOUNTS] = {false};

	(void)key;
	for (size_t i = 0; i < entries->n; i++, entry = entry->next)
		valid[i] = mounts[i].target && judge_target(b, entry, mounts, valid, i);
}

static void across_file(struct schema_bind *b, const struct schema_section *s, void *out)
{
	const struct node *key = node_key(s->node, "env");

	(void)out;
	if (key && !key->key_refused && !key->value->refused && node_is_null(key->value))
		schema_warning(b, PROBLEM_NULL_ENV, key->value,
			"env is null, the same as absent: every granted variable passes");
}

/* ---- Tables ---- */

#define AT(field) .offset = offsetof(struct sandbox_spec, field)
#define IN_CAPABILITIES(field) .offset = offsetof(struct spec_capabilities, field)
#define IN_MOUNT(field) .offset = offsetof(struct spec_mount, field)
#define IN_RESOURCES(field) .offset = offsetof(struct limits, field)

static const struct schema_key resource_keys[] = {
	{.name = "cpu",
		.type = SCHEMA_CPU,
		.flags = SCHEMA_CLAMP,
		IN_RESOURCES(cpu_millis),
		.max = VALUE_CPU_MAX_MILLIS,
		.doc = "Cores, such as 2 or 0.5. 0 or absent: no limit of your own."},
	{.name = "memory",
		.type = SCHEMA_SIZE,
		.flags = SCHEMA_CLAMP | SCHEMA_ZERO,
		IN_RESOURCES(memory_mb),
		.min = 64,
		.max = VALUE_SIZE_MAX_MB,
		.doc = "Memory: 512m, 2g, 1024k, or a bare number of MB."},
	{.name = "pids",
		.type = SCHEMA_INTEGER,
		.flags = SCHEMA_CLAMP,
		IN_RESOURCES(pids),
		.max = 65536,
		.negative_hint = "the process cap cannot be waived from a repository: remove the "
				 "key, or write a number above 0",
		.doc = "Processes and threads. It cannot be waived: -1 is refused."},
	{.name = "disk",
		.type = SCHEMA_SIZE,
		.flags = SCHEMA_CLAMP | SCHEMA_ZERO,
		IN_RESOURCES(disk_mb),
		.min = 64,
		.max = VALUE_SIZE_MAX_MB,
		.doc = "Disk space of the workspace, and what a run adds to .cloop/."},
};
static const struct schema resources = {SCHEMA(resource_keys),
	.doc = "What a task asks for. The operator's ceilings cap it; a key that is left out asks "
	       "for nothing and is capped all the same."};

static const char *const egress_choices[] = {"public", "none", NULL};
#define HANDLE_PATTERN "^\\s*[A-Za-z0-9][A-Za-z0-9._-]*\\s*$"

static const struct schema_key capability_keys[] = {
	{.name = "git",
		.type = SCHEMA_BOOLEAN,
		IN_CAPABILITIES(git),
		.doc = "The sandbox needs a working git."},
	{.name = "network",
		.type = SCHEMA_TEXT,
		IN_CAPABILITIES(network),
		.max_bytes = 128,
		.check = check_network,
		.pattern = "^\\s*[A-Za-z0-9_.:-]+\\s*$",
		.doc = "The ID (egress_...) of an egress grant that this project holds. Without "
		       "it the run has no network. It never turns a network on."},
	{.name = "virtualized",
		.type = SCHEMA_BOOLEAN,
		IN_CAPABILITIES(virtualized),
		.doc = "Run behind a hypervisor (Kata) only."},
	{.name = "kernel_isolated",
		.type = SCHEMA_BOOLEAN,
		IN_CAPABILITIES(kernel_isolated),
		.doc = "Run where the host's kernel does not serve system calls only: gVisor or "
		       "Kata."},
	{.name = "egress",
		.type = SCHEMA_TEXT,
		.flags = SCHEMA_NO_CASE,
		IN_CAPABILITIES(egress),
		.choices = egress_choices,
		.doc = "Narrows the network that the grant of capabilities.network gives. public: "
		       "only addresses of the public Internet can be reached, none of this host, "
		       "of "
		       "private networks or of metadata services. none: nothing can be reached, "
		       "and "
		       "a grant beside it is an error. Absent: whatever the operator's network and "
		       "the grant allow."},
	{.name = "devices",
		.type = SCHEMA_LIST,
		.flags = SCHEMA_UNIQUE,
		IN_CAPABILITIES(devices),
		.max_items = 16,
		.max_bytes = 64,
		.check = check_handle,
		.pattern = HANDLE_PATTERN,
		.doc = "Which of the granted host devices to attach, by name. Absent: all. []: "
		       "none."},
	{.name = "interfaces",
		.type = SCHEMA_LIST,
		.flags = SCHEMA_UNIQUE,
		IN_CAPABILITIES(interfaces),
		.max_items = 8,
		.max_bytes = 64,
		.check = check_handle,
		.pattern = HANDLE_PATTERN,
		.doc = "Which of the granted host interfaces to move in, by name. Absent: all. []: "
		       "none."},
};
static const struct schema capabilities = {SCHEMA(capability_keys), .across = across_capabilities,
	.doc = "What the sandbox needs. Nothing here adds access: a key names what was granted "
	       "elsewhere, or takes something away."};

static const struct schema_key mount_keys[] = {
	{.name = "source",
		.type = SCHEMA_TEXT,
		.flags = SCHEMA_REQUIRED,
		IN_MOUNT(source),
		.max_bytes = MOUNT_PATH_MAX,
		.check = check_source,
		.doc = "A path in the project, relative, without `..` and colons. A directory is "
		       "made "
		       "there if nothing is."},
	{.name = "target",
		.type = SCHEMA_TEXT,
		.flags = SCHEMA_REQUIRED,
		IN_MOUNT(target),
		.max_bytes = MOUNT_PATH_MAX,
		.check = check_target,
		.doc = "An absolute path in the sandbox."},
	{.name = "read_only",
		.type = SCHEMA_BOOLEAN,
		IN_MOUNT(read_only),
		.fallback = "false",
		.doc = "Refuse writes there."},
};
static const struct schema mount = {SCHEMA(mount_keys), .across = across_mount,
	.doc = "Shows a path of the project at another place of the sandbox as well."};

static const struct schema_key file_keys[] = {
	{.name = "image",
		.type = SCHEMA_TEXT,
		AT(image),
		.check = check_image,
		.doc = "The image that the tasks run in. The operator's policy decides whether it "
		       "may. Absent: the executor's image."},
	{.name = "setup",
		.type = SCHEMA_LIST,
		AT(setup),
		.max_items = 32,
		.max_bytes = 4096,
		.check = check_command,
		.doc = "Commands, each one line for /bin/sh, baked into a derived image once."},
	{.name = "env",
		.type = SCHEMA_LIST,
		.flags = SCHEMA_UNIQUE,
		AT(env),
		.max_items = 64,
		.max_bytes = 256,
		.check = check_variable,
		.pattern = "^\\s*[A-Za-z_][A-Za-z0-9_]*\\s*$",
		.doc = "Names (never values) of the granted variables to forward. Absent: all. []: "
		       "none."},
	{.name = "resources",
		.type = SCHEMA_SECTION,
		AT(resources),
		.section = &resources,
		.doc = "What a task asks for."},
	{.name = "capabilities",
		.type = SCHEMA_SECTION,
		AT(capabilities),
		.section = &capabilities,
		.doc = "What the sandbox needs."},
	{.name = "mounts",
		.type = SCHEMA_ENTRIES,
		AT(mounts),
		.max_items = SPEC_MAX_MOUNTS,
		.section = &mount,
		.entry_size = sizeof(struct spec_mount),
		.after = after_mounts,
		.doc = "Paths of the project that are shown elsewhere in the sandbox too."},
};
static const struct schema file = {SCHEMA(file_keys), .across = across_file,
	.doc = "The sandbox that this repository's tasks run in. Every key is optional."};

const struct schema *spec_keys_schema(void)
{
	return &file;
}
