#include "vault/local-repo.h"

#include "base/mem.h"
#include "base/path.h"
#include "vault/payload.h"

int local_repo_payload_check(struct text t, struct error *err)
{
	bool good = t.len > 1 && t.p[0] == '/' && !text_has_byte(t, '\\') &&
		    !text_has_byte(t, ':') && !text_has_byte(t, '\0') && !text_has_byte(t, '\n');

	return good ? 0 : payload_invalid(err, 0, "path");
}

static bool name_possible(struct text t)
{
	return t.len >= 1 && t.len <= LOCAL_REPO_NAME_MAX && t.p[0] != '.' &&
	       !text_has_byte(t, '/') && !text_has_byte(t, '\\') && !text_has_byte(t, ':') &&
	       !text_has_byte(t, '\0') && !text_has_byte(t, '\n');
}

bool local_repo_possible(struct text root, const struct local_repo_candidate *c)
{
	if (!name_possible(c->name) || !c->is_dir || !c->is_git)
		return false;
	return !c->link.p || (path_at_or_below(c->link, root) && !text_equal(c->link, root));
}

/*
 * `*` takes as little as it can, and one character more whenever what follows does not fit: only
 * the last `*` can matter, so nothing is tried twice.
 */
static bool matches(struct text pattern, struct text name)
{
	struct text after_star = {NULL, 0}, star_name = {NULL, 0};

	while (name.len > 0) {
		size_t n = utf8_step(name);
		if (pattern.len > 0 && pattern.p[0] == '*') {
			pattern = after_star = text_after(pattern, 1);
			star_name = name;
		} else if (pattern.len > 0 && pattern.p[0] == '?' && name.p[0] != '/') {
			pattern = text_after(pattern, 1);
			name = text_after(name, n);
		} else if (pattern.len > 0 && pattern.p[0] == name.p[0]) {
			pattern = text_after(pattern, 1);
			name = text_after(name, 1);
		} else if (after_star.p && star_name.p[0] != '/') {
			star_name = name = text_after(star_name, utf8_step(star_name));
			pattern = after_star;
		} else {
			return false;
		}
	}
	while (pattern.len > 0 && pattern.p[0] == '*')
		pattern = text_after(pattern, 1);
	return pattern.len == 0;
}

bool local_repo_matches(const struct strv *patterns, struct text name)
{
	strv_foreach (pattern, patterns)
		if (matches(text_of(*pattern), name))
			return true;
	return false;
}

int local_repo_select(const struct local_repo_root *root, const struct local_repo_candidate *c,
	size_t n, struct strv *ret, struct error *err)
{
	AUTO(strv) found = STRV_INIT(LOCAL_REPO_MAX);

	for (size_t i = 0; i < n; i++) {
		if (!local_repo_possible(root->path, &c[i]) ||
			!local_repo_matches(root->patterns, c[i].name))
			continue;
		if (strv_add_n(&found, c[i].name.p, c[i].name.len) < 0)
			return error_set(err, ERROR_LOCAL_REPO_TOO_MANY,
				"the grant gives more than %d repositories below %s",
				LOCAL_REPO_MAX, quoted(root->path));
	}
	if (found.n == 0)
		return error_set(err, ERROR_LOCAL_REPO_NONE,
			"the grant gives no repository below %s", quoted(root->path));
	strv_sort(&found);
	*ret = found;
	found = STRV_INIT(0);
	return 0;
}

char *local_repo_names(const struct strv *repos)
{
	return strv_join(repos, ",");
}
