#include "executor/container/driver/setup-lock.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "sys/file.h"

enum { KEY_DIGITS = 64, CONTENT_MAX = 4096 };

void setup_lock_name(const char *key, char ret[SETUP_LOCK_NAME_SIZE])
{
	snprintf(ret, SETUP_LOCK_NAME_SIZE, SETUP_LOCK_PREFIX "%.64s", key);
}

const char *setup_lock_key(const char *name)
{
	struct text t = text_of(name);

	return text_starts(t, SETUP_LOCK_PREFIX) &&
			       text_is_hex(text_after(t, strlen(SETUP_LOCK_PREFIX)), KEY_DIGITS)
		       ? name + strlen(SETUP_LOCK_PREFIX)
		       : NULL;
}

/* Another daemon of docker has other images. */
static char *words_of(const struct runtime *r)
{
	return mem_printf("%s%s%s\n", engine_text(r->engine), r->endpoint ? " " : "",
		r->endpoint ? r->endpoint : "");
}

static bool read_words(int lock, struct str *ret)
{
	auto_error struct error ignored = ERROR_INIT;

	return lseek(lock, 0, SEEK_SET) == 0 && file_read_fd(lock, CONTENT_MAX, ret, &ignored) == 0;
}

void setup_lock_touch(int lock, const struct runtime *runtime)
{
	auto_free char *words = words_of(runtime);
	AUTO(str) old = STR_INIT(CONTENT_MAX + 2);

	if (!read_words(lock, &old) || strcmp(str_text(&old), words) != 0) {
		(void)!ftruncate(lock, 0);
		(void)!pwrite(lock, words, strlen(words), 0);
	}
	futimens(lock, NULL);
}

bool setup_lock_is_foreign(int lock, const struct runtime *runtime)
{
	auto_free char *words = words_of(runtime);
	AUTO(str) old = STR_INIT(CONTENT_MAX + 2);

	return !read_words(lock, &old) || (old.len > 0 && strcmp(str_text(&old), words) != 0);
}
