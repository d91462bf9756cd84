#include "base/path.h"

#include <string.h>

#include "base/mem.h"

bool path_clean(struct text t)
{
	struct text rest, part;

	if (t.len == 0 || t.p[0] != '/')
		return false;
	if (t.len == 1)
		return true;
	rest = text_after(t, 1);
	while (text_split(&rest, '/', &part))
		if (part.len == 0 || text_is(part, ".") || text_is(part, ".."))
			return false;
	return true;
}

bool path_at_or_below(struct text path, struct text root)
{
	if (text_is(root, "/"))
		return path.len > 0 && path.p[0] == '/';
	return path.len >= root.len && root.len > 0 && memcmp(path.p, root.p, root.len) == 0 &&
	       (path.len == root.len || path.p[root.len] == '/');
}

char *path_parent(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return mem_strdup(".");
	return mem_strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

const char *path_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}
