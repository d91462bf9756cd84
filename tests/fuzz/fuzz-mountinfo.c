/*
 * Mount points below a directory (disk-and-secrets.md §4.3). Input: the directory, a line break,
 * then the text of mountinfo. What comes out is sorted, clean, without repetition and strictly
 * below the directory; unescaping never makes a field longer, and changes nothing without a
 * backslash.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/path.h"
#include "limits/walk-mounts.h"
#include "limits/walk-open.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_field(struct text field)
{
	auto_free char *bytes = walk_mounts_unescape(field);
	size_t n = strlen(bytes);

	assert(n <= field.len);
	if (!text_has_byte(field, '\\') && !text_has_byte(field, '\0'))
		assert(text_equal(field, text_of(bytes)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const targets[] = {"/workspace", "/", NULL};
	AUTO(strv) list = STRV_INIT(WALK_MOUNTS_MAX);
	struct text rest = {(const char *)data, size}, root;
	uint64_t ids[4];

	if (size == 0 || !text_split(&rest, '\n', &root) || !rest.p || root.len == 0 ||
		root.p[0] != '/')
		return 0;
	check_field(rest);
	assert(walk_open_mounts(rest, targets, ids, ARRAY_SIZE(ids)) <= ARRAY_SIZE(ids));
	if (walk_mounts_below(rest, root, &list) < 0)
		return 0;
	for (size_t i = 0; i < list.n; i++) {
		struct text item = text_of(list.v[i]);
		assert(path_clean(item));
		assert(i == 0 || strcmp(list.v[i - 1], list.v[i]) < 0);
		if (path_clean(root) && memchr(root.p, '\0', root.len) == NULL)
			assert(path_at_or_below(item, root) && !text_equal(item, root));
	}
	return 0;
}
