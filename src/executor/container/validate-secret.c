/* Secret files of a lease (container-driver.md §5.13). */
#include "executor/container/validate.h"

#include "base/path.h"

enum {
	SECRET_DIR_MAX = 256,
	SECRET_NAME_MAX = 255,
	SECRET_BYTES_MAX = 262144,
	SECRETS_BYTES_MAX = 1 << 20,
};

/* Below /run/cloop/, but not at a place of ours there. */
static bool dir_valid(struct text t)
{
	static const char *const ours[] = {"init", "init-standalone", "ctl"};
	struct text rest, first;

	if (!path_clean(t) || t.len > SECRET_DIR_MAX || text_has_control(t) ||
		!text_starts(t, "/run/cloop/"))
		return false;
	rest = text_after(t, strlen("/run/cloop/"));
	text_split(&rest, '/', &first);
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		if (text_is(first, ours[i]))
			return false;
	return true;
}

static bool name_valid(struct text t)
{
	return t.len >= 1 && t.len <= SECRET_NAME_MAX && !text_is(t, ".") && !text_is(t, "..") &&
	       !text_has_byte(t, '/') && !text_has_byte(t, '\\') && !text_has_control(t);
}

/* 0?[0-7]{3}: rights of the owner only, reading among them. Empty is the default 0600. */
static bool mode_valid(struct text t)
{
	if (t.len == 0)
		return true;
	if (t.len == 4 && t.p[0] == '0')
		t = text_after(t, 1);
	return t.len == 3 && t.p[0] >= '4' && t.p[0] <= '7' && t.p[1] == '0' && t.p[2] == '0';
}

static int check_file(const struct secret_file *f, struct error *err)
{
	if (!dir_valid(f->dir))
		return error_set(err, ERROR_SECRET_DIR_INVALID,
			"secret directory %s is not a clean path below /run/cloop/",
			quoted(f->dir));
	if (!name_valid(f->name))
		return error_set(err, ERROR_SECRET_NAME_INVALID,
			"secret file %s is not one plain name", quoted(f->name));
	if (f->size > SECRET_BYTES_MAX)
		return error_set(err, ERROR_SECRET_TOO_LARGE,
			"secret file %s is larger than %d bytes", quoted(f->name),
			SECRET_BYTES_MAX);
	if (!mode_valid(f->mode))
		return error_set(err, ERROR_SECRET_MODE_INVALID, "secret file %s: mode %s",
			quoted(f->name), quoted(f->mode));
	return 0;
}

int validate_secret_files(const struct secret_file *f, size_t n, struct error *err)
{
	uint64_t total = 0;

	for (size_t i = 0; i < n; i++) {
		if (check_file(&f[i], err) < 0)
			return -1;
		for (size_t j = 0; j < i; j++)
			if (text_equal(f[i].dir, f[j].dir) && text_equal(f[i].name, f[j].name))
				return error_set(err, ERROR_SECRET_DUPLICATE,
					"secret file %s is there twice", quoted(f[i].name));
		total += f[i].size;
	}
	if (total > SECRETS_BYTES_MAX)
		return error_set(err, ERROR_SECRETS_TOO_LARGE,
			"the secret files are larger than %d bytes together", SECRETS_BYTES_MAX);
	return 0;
}
