#include "config/set.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/json.h"
#include "config/config.h"
#include "config/edit.h"
#include "config/keys.h"
#include "config/source.h"

static int check_key(const char *path, const struct schema_key *key, struct error *err)
{
	if (key->type != SCHEMA_SECTION && key->type != SCHEMA_ENTRIES)
		return 0;
	error_set(err, ERROR_USAGE, "%s is a %s", path,
		key->type == SCHEMA_SECTION ? "section, not a key" : "list of mappings");
	return error_set_remedy(err, key->type == SCHEMA_SECTION
					     ? "name a key below it: cloop config show --defaults"
					     : "change it in an editor, then cloop config check");
}

/* The problem at the key, in the words of the file; else whatever is wrong with the whole. */
static int refuse(
	const struct problems *errors, const char *path, const char *key, struct error *err)
{
	config_refuse(errors, path, err);
	for (size_t i = 0; i < errors->n; i++) {
		const struct problem *p = &errors->v[i];
		enum error_code code = error_code_from_text(text_of(p->code));
		if (!text_starts(text_of(p->path), key))
			continue;
		auto_json *list = problems_to_json(errors);
		error_set(err, code ? code : ERROR_CONFIG_INVALID, "%s: %s", p->path, p->message);
		error_set_remedy(err, "%s", p->remedy);
		return error_add_detail(err, "errors", json_incref(list));
	}
	return -1;
}

static int validate(struct text text, const char *path, const char *key, struct error *err)
{
	AUTO(problems) errors = PROBLEMS_INIT(PROBLEMS_ERRORS_MAX);
	AUTO(problems) warnings = PROBLEMS_INIT(PROBLEMS_WARNINGS_MAX);
	AUTO(config) config = {0};

	if (config_parse(text, &config, &errors, &warnings) == 0)
		return 0;
	return refuse(&errors, path, key, err);
}

static bool absent(const char *path)
{
	return faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT;
}

int set_key(const char *path, const char *key, char *const *values, size_t n, struct error *err)
{
	AUTO(str) before = STR_INIT(CONFIG_MAX_BYTES + 1);
	AUTO(str) after = STR_INIT(CONFIG_MAX_BYTES);
	struct edit edit = {key, keys_find(key, err), values, n};
	AUTO(source_change) change = SOURCE_CHANGE_INIT;
	mode_t mode = source_default_mode();

	if (!edit.key || check_key(key, edit.key, err) < 0)
		return -1;
	if (n == 0 && absent(path))
		return 0;
	if (source_change_begin(path, &change, err) < 0 ||
		source_read(path, &before, &mode, err) < 0)
		return -1;
	struct text old = {str_text(&before), before.len};
	if (edit_text(old, &edit, &after, err) < 0)
		return -1;
	struct text new = {str_text(&after), after.len};
	if (validate(new, path, key, err) < 0)
		return -1;
	return text_equal(old, new) ? 0 : source_replace(&change, path, new, mode, err);
}
