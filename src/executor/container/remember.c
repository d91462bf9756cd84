#include "executor/container/remember.h"

#include <sys/stat.h>

#include "base/hash.h"
#include "base/mem.h"
#include "sys/file.h"
#include "sys/log.h"

enum { ENTRY_MAX = 4 << 20 };

static int64_t nanoseconds(struct timespec t)
{
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* What identifies a file's content: rename, write and touch all change one of these. */
static json_t *stamp(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return json_pack("{s:o}", "path", json_from_string(path));
	return json_pack("{s:o, s:I, s:I, s:I, s:I, s:I}", "path", json_from_string(path), "dev",
		(json_int_t)st.st_dev, "ino", (json_int_t)st.st_ino, "size", (json_int_t)st.st_size,
		"mtime", (json_int_t)nanoseconds(st.st_mtim), "ctime",
		(json_int_t)nanoseconds(st.st_ctim));
}

json_t *remember_stamps(const struct strv *files)
{
	json_t *list = json_array();

	strv_foreach (path, files)
		json_array_append_new(list, stamp(*path));
	return list;
}

static bool still_true(const json_t *stamps)
{
	size_t i;
	json_t *old;

	if (!json_is_array(stamps) || json_array_size(stamps) > REMEMBER_FILES_MAX)
		return false;
	json_array_foreach(stamps, i, old)
	{
		const char *path = json_get_string(old, "path");
		auto_json *now = stamp(path ? path : "");
		if (!path || !json_equal(old, now))
			return false;
	}
	return true;
}

static char *entry_name(const char *kind, struct text key)
{
	char hash[SHA256_HEX_SIZE];

	sha256_hex(key, hash);
	return mem_printf("%s-%.32s.json", kind, hash);
}

static int open_folder(const char *home, bool make)
{
	auto_error struct error err = ERROR_INIT;

	return file_open_folder(home, "cache", make, &err);
}

json_t *remember_get(const char *home, const char *kind, struct text key)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(str) bytes = STR_INIT(ENTRY_MAX + 1);
	auto_free char *name = entry_name(kind, key);

	auto_fd int folder = home ? open_folder(home, false) : -1;
	if (folder < 0 || file_read_at(folder, name, ENTRY_MAX, &bytes) != 0)
		return NULL;
	auto_json *entry = json_read(
		(struct text){str_text(&bytes), bytes.len}, ENTRY_MAX, name, ERROR_IO, &err);
	auto_json *asked = json_from_bytes(key);
	if (!entry || !json_equal(json_object_get(entry, "key"), asked) ||
		!still_true(json_object_get(entry, "files")))
		return NULL;
	return json_incref(json_object_get(entry, "answer"));
}

void remember_put(
	const char *home, const char *kind, struct text key, json_t *stamps, json_t *answer)
{
	auto_error struct error err = ERROR_INIT;
	auto_free char *name = entry_name(kind, key);

	auto_fd int folder = home ? open_folder(home, true) : -1;
	if (folder < 0)
		return;
	auto_json *entry = json_pack(
		"{s:o, s:O, s:O}", "key", json_from_bytes(key), "files", stamps, "answer", answer);
	auto_free char *text = json_write(entry);
	if (file_replace_at(folder, name, 0600, text_of(text), false, &err) < 0)
		log_debug("%s", err.message);
}
