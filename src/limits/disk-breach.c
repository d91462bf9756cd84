#include "limits/disk-breach.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "limits/disk-limit.h"
#include "limits/render.h"
#include "sys/clock.h"

enum { PATH_SHOWN_MAX = 512, LIMIT_MB_MAX = 1 << 20, NS_PER_S = 1000000000 };
#define USED_MAX (UINT64_C(1) << 50)

void disk_breach_done(struct disk_breach *b)
{
	free(b->path);
	*b = DISK_BREACH_INIT;
}

/* The replacement character says that somebody else did not understand the name either. */
static bool is_hidden(uint32_t c)
{
	return utf8_control(c) || c == 0xfffd;
}

char *disk_breach_path(struct text path)
{
	AUTO(str) out = STR_INIT(PATH_SHOWN_MAX);
	uint32_t c;

	while (path.len > 0) {
		size_t n = utf8_next(path, &c);
		if (n > 0 && !is_hidden(c) && str_add(&out, path.p, n) < 0)
			break;
		path = text_after(path, n > 0 ? n : 1);
	}
	return str_take(&out);
}

static uint64_t positive(const json_t *object, const char *key)
{
	int64_t n = json_get_int(object, key, 0);

	return n > 0 ? (uint64_t)n : 0;
}

int disk_breach_restore(const json_t *breach, struct disk_breach *ret)
{
	int64_t limit = json_get_int(breach, "limit_mb", 0);
	uint64_t used = positive(breach, "used_bytes");
	uint64_t entries = positive(breach, "entries");
	uint64_t entries_limit = positive(breach, "entries_limit");
	const json_t *path = json_object_get(breach, "path");

	if (limit < 1 || limit > LIMIT_MB_MAX)
		return 1;
	bool names = entries_limit > 0 && entries > entries_limit;
	if (!names && !disk_limit_over(used, (uint64_t)limit))
		return 1;
	*ret = (struct disk_breach){
		.used_bytes = used > USED_MAX ? USED_MAX : used,
		.limit_mb = (uint64_t)limit,
		.source = disk_limit_source(json_get_text(breach, "source")),
		.path = json_is_string(path) ? disk_breach_path(json_text(path)) : NULL,
		.entries = names ? entries : 0,
		.entries_limit = names ? entries_limit : 0,
	};
	return 0;
}

int disk_breach_read(struct text outcome, const json_t *breach, struct disk_breach *ret)
{
	if (!text_is(outcome, "disk_limit") || !json_is_object(breach) ||
		!json_is_integer(json_object_get(breach, "used_bytes")) ||
		!disk_limit_over(positive(breach, "used_bytes"), positive(breach, "limit_mb")))
		return 1;
	if (disk_breach_restore(breach, ret) != 0)
		return 1;
	/* What was counted elsewhere, and from which start on, nobody here knows. */
	ret->entries = ret->entries_limit = 0;
	return 0;
}

json_t *disk_breach_to_json(const struct disk_breach *b)
{
	json_t *o = json_pack("{s:I, s:I, s:s}", "used_bytes", (json_int_t)b->used_bytes,
		"limit_mb", (json_int_t)b->limit_mb, "source", b->source);

	if (b->path)
		json_object_set_new(o, "path", json_string(b->path));
	if (b->entries_limit > 0) {
		json_object_set_new(o, "entries", json_integer((json_int_t)b->entries));
		json_object_set_new(o, "entries_limit", json_integer((json_int_t)b->entries_limit));
	}
	if (b->measured_at > 0) {
		char at[CLOCK_TEXT_SIZE];
		clock_format(b->measured_at * NS_PER_S, at);
		json_object_set_new(o, "measured_at", json_string(at));
	}
	return o;
}

const char *disk_breach_origin(const char *source)
{
	return strcmp(source, "ceiling") == 0 ? "an operator's disk ceiling"
	       : strcmp(source, "spec") == 0  ? "from .cloop/sandbox.yaml resources.disk"
					      : "";
}

char *disk_breach_text(const struct disk_breach *b)
{
	AUTO(str) out = STR_INIT(1024);
	auto_free char *limit = render_mb(b->limit_mb);
	const char *origin = disk_breach_origin(b->source);

	str_addf(&out, "stopped at its disk limit: %llu MB used, the limit is %s",
		(unsigned long long)disk_limit_used_mb((int64_t)b->used_bytes), limit);
	if (origin[0])
		str_addf(&out, " (%s)", origin);
	if (b->entries_limit > 0)
		str_addf(&out, "; %llu names, and the run may have %llu",
			(unsigned long long)b->entries, (unsigned long long)b->entries_limit);
	return str_take(&out);
}
