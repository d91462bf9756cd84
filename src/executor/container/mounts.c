#include "executor/container/mounts.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/path.h"
#include "executor/container/paths.h"
#include "executor/container/validate.h"

enum { PATH_BYTES_MAX = 8192, WORD_BYTES_MAX = 4 * PATH_BYTES_MAX };

/* §7.2: what is mounted at a protected path, by what lstat says of it. */
enum protection { UNSAFE, WRITABLE, READ_ONLY };

static const struct protected_path {
	const char *path;
	int parent; /* looked at only when this one is a directory; -1 = none */
	enum protection dir, file;
} protected_paths[] = {
	[PROJECT_GIT] = {".git", -1, WRITABLE, READ_ONLY},
	[PROJECT_GIT_CONFIG] = {".git/config", PROJECT_GIT, UNSAFE, READ_ONLY},
	[PROJECT_GIT_CONFIG_WORKTREE] = {".git/config.worktree", PROJECT_GIT, UNSAFE, READ_ONLY},
	[PROJECT_GIT_COMMONDIR] = {".git/commondir", PROJECT_GIT, UNSAFE, READ_ONLY},
	[PROJECT_GIT_HOOKS] = {".git/hooks", PROJECT_GIT, READ_ONLY, UNSAFE},
	[PROJECT_GIT_MODULES] = {".git/modules", PROJECT_GIT, READ_ONLY, UNSAFE},
	[PROJECT_GIT_WORKTREES] = {".git/worktrees", PROJECT_GIT, READ_ONLY, UNSAFE},
	[PROJECT_CLOOP] = {".cloop", -1, WRITABLE, UNSAFE},
	[PROJECT_CLOOP_SANDBOX] = {".cloop/sandbox.yaml", PROJECT_CLOOP, UNSAFE, READ_ONLY},
};
static_assert(ARRAY_SIZE(protected_paths) == PROJECT_FILE_COUNT, "every protected path");

const char *project_file_path(enum project_file f)
{
	assert((size_t)f < PROJECT_FILE_COUNT);
	return protected_paths[f].path;
}

/* Bytes that arrive at the kernel as they were written here. */
static bool renderable(struct text path)
{
	return utf8_valid(path) && !text_has_byte(path, '\0') && !text_has(path, "\r\n");
}

/* A field of the engine's CSV reader, quoted when it needs it. */
static void add_field(struct str *out, const char *key, struct text value)
{
	bool quote = text_has_byte(value, ',') || text_has_byte(value, '"') ||
		     text_has_byte(value, '\n') || text_has_byte(value, '\r');

	str_add_text(out, quote ? ",\"" : ",");
	str_add_text(out, key);
	for (size_t i = 0; i < value.len; i++) {
		if (value.p[i] == '"')
			str_add_char(out, '"');
		str_add_char(out, value.p[i]);
	}
	if (quote)
		str_add_char(out, '"');
}

/* docker's --mount has no field for a label; --volume splits at colons and knows no quotes. */
static int render_volume(const struct mount_text *m, struct str *ret, struct error *err)
{
	if (text_has_byte(m->source, ':') || text_has_byte(m->target, ':'))
		return error_set(err, ERROR_PATH_UNSUPPORTED,
			"mounting %s at %s: docker cannot relabel a path that holds a colon",
			quoted(m->source), quoted(m->target));
	str_add_text(ret, "--volume=");
	str_add(ret, m->source.p, m->source.len);
	str_add_char(ret, ':');
	str_add(ret, m->target.p, m->target.len);
	str_add_text(ret, m->read_only ? ":ro," : ":");
	str_add_char(ret, (char)m->label);
	return 0;
}

int mount_render(enum engine engine, const struct mount_text *m, struct str *ret, struct error *err)
{
	if (!renderable(m->source) || !renderable(m->target))
		return error_set(err, ERROR_PATH_UNSUPPORTED,
			"mounting %s at %s: a path must be UTF-8 without NUL and without CR LF",
			quoted(m->source), quoted(m->target));
	if (engine == ENGINE_DOCKER && m->label)
		return render_volume(m, ret, err);
	str_add_text(ret, "--mount=type=bind");
	add_field(ret, "source=", m->source);
	add_field(ret, "target=", m->target);
	if (m->read_only)
		str_add_text(ret, ",readonly");
	if (m->label)
		str_add_text(ret,
			m->label == MOUNT_LABEL_SHARED ? ",relabel=shared" : ",relabel=private");
	return 0;
}

void mount_list_done(struct mount_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].source);
		free(l->v[i].target);
		free(l->v[i].word);
	}
	free(l->v);
	*l = (struct mount_list){0};
}

static int add(const struct mount_plan *plan, struct mount_list *l, struct mount_text m,
	enum mount_owner owner, struct error *err)
{
	AUTO(str) word = STR_INIT(WORD_BYTES_MAX);

	if (!plan->options->selinux_label[0])
		m.label = MOUNT_LABEL_NONE;
	if (!path_clean(m.source) || m.source.len > PATH_BYTES_MAX)
		return error_set(err, ERROR_PATH_UNSUPPORTED,
			"mounting %s at %s: the source is not a resolved path", quoted(m.source),
			quoted(m.target));
	if (mount_render(plan->engine, &m, &word, err) < 0)
		return -1;
	l->v = mem_grow(l->v, l->n + 1, sizeof(*l->v));
	l->v[l->n++] = (struct mount){
		.source = mem_strndup(m.source.p, m.source.len),
		.target = mem_strndup(m.target.p, m.target.len),
		.word = str_take(&word),
		.read_only = m.read_only,
		.owner = owner,
	};
	return 0;
}

/* A mount of ours: DIR/NAME of the host (name may be NULL) at a fixed target. */
static int add_ours(const struct mount_plan *plan, struct mount_list *l, struct mount_text m,
	const char *name, struct error *err)
{
	AUTO(str) path = STR_INIT(PATH_BYTES_MAX + 64);

	str_add(&path, m.source.p, m.source.len);
	if (name) {
		str_add_char(&path, '/');
		str_add_text(&path, name);
	}
	if (str_full(&path))
		return error_set(err, ERROR_PATH_UNSUPPORTED,
			"mounting %s at %s: the path is too long", quoted(m.source),
			quoted(m.target));
	m.source = (struct text){str_text(&path), path.len};
	return add(plan, l, m, MOUNT_OURS, err);
}

static int add_protected_path(
	const struct mount_plan *plan, struct mount_list *l, enum project_file f, struct error *err)
{
	const struct protected_path *p = &protected_paths[f];
	const enum path_kind *kinds = plan->request->project_files;
	auto_free char *target = mem_printf("%s/%s", PATHS_WORKSPACE, p->path);

	if (kinds[f] == PATH_ABSENT || (p->parent >= 0 && kinds[p->parent] != PATH_DIR))
		return 0;
	enum protection how = kinds[f] == PATH_DIR    ? p->dir
			      : kinds[f] == PATH_FILE ? p->file
						      : UNSAFE;
	if (how == UNSAFE)
		return error_set(err, ERROR_PROTECTED_PATH_UNSAFE,
			"protecting %s of project %s: it is not the kind of file it should be",
			p->path, quoted(plan->request->work_dir));
	return add_ours(plan, l,
		(struct mount_text){plan->request->work_dir, text_of(target), how == READ_ONLY,
			MOUNT_LABEL_NONE},
		p->path, err);
}

static int add_project(const struct mount_plan *plan, struct mount_list *l, struct error *err)
{
	struct mount_text workspace = {plan->request->work_dir, text_of(PATHS_WORKSPACE), false,
		(enum mount_label)plan->options->selinux_label[0]};

	if (add_ours(plan, l, workspace, NULL, err) < 0)
		return -1;
	if (!plan->options->protect_project_files)
		return 0;
	for (size_t f = 0; f < PROJECT_FILE_COUNT; f++)
		if (add_protected_path(plan, l, (enum project_file)f, err) < 0)
			return -1;
	return 0;
}

static int add_run_files(const struct mount_plan *plan, struct mount_list *l, struct error *err)
{
	struct text run_dir = plan->request->run_dir;
	const char *init = plan->standalone ? PATHS_INIT_STANDALONE : PATHS_INIT;
	const struct our_file {
		bool wanted;
		struct text dir;
		const char *name, *target;
		enum mount_label label;
	} files[] = {
		{true, plan->guest, NULL, init, MOUNT_LABEL_SHARED},
		{!plan->standalone, run_dir, "ctl", PATHS_CTL, MOUNT_LABEL_PRIVATE},
		{true, run_dir, "hosts", "/etc/hosts", MOUNT_LABEL_PRIVATE},
		{plan->network_off, run_dir, "resolv.conf", "/etc/resolv.conf",
			MOUNT_LABEL_PRIVATE},
		{plan->request->guest_binary, plan->guest, NULL, PATHS_CLOOP, MOUNT_LABEL_SHARED},
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		const struct our_file *f = &files[i];
		struct mount_text m = {f->dir, text_of(f->target), true, f->label};
		if (f->wanted && add_ours(plan, l, m, f->name, err) < 0)
			return -1;
	}
	return 0;
}

/* §5.14: a leading /var/run is read as /run. */
static struct text canonical_target(struct text t)
{
	return path_at_or_below(t, TEXT("/var/run")) ? text_after(t, strlen("/var")) : t;
}

/* No two mounts from outside at one target or below each other: an engine would make the inner
 * mount point inside the outer one's source, on the host. */
static int check_overlap(const struct mount_list *l, struct text target, struct error *err)
{
	struct text t = canonical_target(target);

	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].owner != MOUNT_OURS &&
			text_equal(t, canonical_target(text_of(l->v[i].target))))
			return error_set(err, ERROR_DUPLICATE_TARGET,
				"two mounts have the target %s", quoted(target));
	for (size_t i = 0; i < l->n; i++) {
		struct text other = canonical_target(text_of(l->v[i].target));
		if (l->v[i].owner != MOUNT_OURS &&
			(path_at_or_below(t, other) || path_at_or_below(other, t)))
			return error_set(err, ERROR_NESTED_TARGET,
				"the mount targets %s and %s lie in each other", quoted(target),
				quoted_string(l->v[i].target));
	}
	return 0;
}

static int check_secret_target(struct text target, struct error *err)
{
	/* The rule of a secret's directory (§5.13); the file is one that passes. */
	struct secret_file f = {.dir = target, .name = TEXT("x")};

	return validate_secret_files(&f, 1, err);
}

static int check_target(const struct mount_plan *plan, enum mount_owner owner, struct text target,
	struct error *err)
{
	if (owner == MOUNT_SECRET)
		return check_secret_target(target, err);
	if (validate_mount_target(target, plan->options->protect_project_files, err) < 0)
		return -1;
	if (owner == MOUNT_REPOSITORY && path_at_or_below(target, TEXT(PATHS_WORKSPACE)))
		return error_set(err, ERROR_RESERVED_TARGET,
			"a granted repository cannot be mounted at %s, below the workspace",
			quoted(target));
	return 0;
}

static bool below_project_path(struct text path, struct text work_dir, const char *name)
{
	AUTO(str) protected = STR_INIT(PATH_BYTES_MAX + 64);

	str_add(&protected, work_dir.p, work_dir.len);
	str_add_text(&protected, name);
	return path_at_or_below(path, (struct text){str_text(&protected), protected.len});
}

static int check_file_source(
	const struct mount_plan *plan, const struct request_mount *m, struct error *err)
{
	struct text work_dir = plan->request->work_dir;

	if (!path_clean(m->source) || text_equal(m->source, work_dir) ||
		!path_at_or_below(m->source, work_dir))
		return error_set(err, ERROR_MOUNT_ESCAPES,
			"the source %s of the mount at %s does not lie below the project",
			quoted(m->source), quoted(m->target));
	if (plan->options->protect_project_files && !m->read_only &&
		(below_project_path(m->source, work_dir, "/.git") ||
			below_project_path(m->source, work_dir, "/.cloop")))
		return error_set(err, ERROR_MOUNT_SOURCE_PROTECTED,
			"the source %s of the mount at %s is protected: it can be mounted "
			"read-only only",
			quoted(m->source), quoted(m->target));
	return 0;
}

static int check_source(const struct mount_plan *plan, enum mount_owner owner,
	const struct request_mount *m, struct error *err)
{
	struct text work_dir = plan->request->work_dir;

	if (owner == MOUNT_FILE)
		return check_file_source(plan, m, err);
	if (owner == MOUNT_REPOSITORY &&
		(path_at_or_below(m->source, work_dir) || path_at_or_below(work_dir, m->source)))
		return error_set(err, ERROR_HOST_MOUNT_OVERLAPS_PROJECT,
			"the granted repository %s and the project %s lie in each other",
			quoted(m->source), quoted(work_dir));
	return 0;
}

static int add_list(const struct mount_plan *plan, struct mount_list *l, enum mount_owner owner,
	struct error *err)
{
	const struct container_request *r = plan->request;
	const struct request_mount *v = owner == MOUNT_SECRET ? r->secret_dirs
					: owner == MOUNT_FILE ? r->mounts
							      : r->host_mounts;
	size_t n = owner == MOUNT_SECRET ? r->n_secret_dirs
		   : owner == MOUNT_FILE ? r->n_mounts
					 : r->n_host_mounts;

	if (owner != MOUNT_SECRET && n > MOUNTS_PER_LIST_MAX)
		return error_set(err, ERROR_MOUNTS_TOO_MANY, "%zu %s, at most %d are possible", n,
			owner == MOUNT_FILE ? "mounts" : "granted repositories",
			MOUNTS_PER_LIST_MAX);
	for (size_t i = 0; i < n; i++) {
		struct mount_text m = {v[i].source, v[i].target,
			owner == MOUNT_SECRET || v[i].read_only,
			owner == MOUNT_SECRET ? MOUNT_LABEL_PRIVATE : MOUNT_LABEL_NONE};
		if (check_target(plan, owner, m.target, err) < 0 ||
			check_overlap(l, m.target, err) < 0 ||
			check_source(plan, owner, &v[i], err) < 0 ||
			add(plan, l, m, owner, err) < 0)
			return -1;
	}
	return 0;
}

int mount_list_make(const struct mount_plan *plan, struct mount_list *ret, struct error *err)
{
	AUTO(mount_list) l = {0};

	if (add_project(plan, &l, err) < 0 || add_run_files(plan, &l, err) < 0 ||
		add_list(plan, &l, MOUNT_SECRET, err) < 0 ||
		add_list(plan, &l, MOUNT_FILE, err) < 0 ||
		add_list(plan, &l, MOUNT_REPOSITORY, err) < 0)
		return -1;
	*ret = l;
	l = (struct mount_list){0};
	return 0;
}
