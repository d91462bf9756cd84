#include "limits/render.h"

#include <inttypes.h>

#include "base/mem.h"

enum { CEILING_TEXT_MAX = 256 };

char *render_mb(uint64_t mb)
{
	if (mb == 0)
		return mem_strdup("unlimited");
	if (mb % 1024 == 0)
		return mem_printf("%" PRIu64 " GB", mb / 1024);
	return mem_printf("%" PRIu64 " MB", mb);
}

char *render_cpu(uint64_t millis)
{
	if (millis == 0)
		return mem_strdup("unlimited");
	char *text = mem_printf("%" PRIu64 ".%03u", millis / 1000, (unsigned)(millis % 1000));
	size_t n = strlen(text);
	while (text[n - 1] == '0')
		n--;
	text[text[n - 1] == '.' ? n - 1 : n] = '\0';
	return text;
}

static char *value_text(enum resource r, uint64_t value)
{
	if (r == RESOURCE_CPU)
		return render_cpu(value);
	if (r == RESOURCE_PIDS)
		return value == 0 ? mem_strdup("unlimited") : mem_printf("%" PRIu64, value);
	return render_mb(value);
}

char *render_amount(enum resource r, uint64_t value)
{
	auto_free char *text = value_text(r, value);

	return mem_printf("%s %s", resource_text(r), text);
}

char *render_ceiling(const struct limits *l)
{
	AUTO(str) out = STR_INIT(CEILING_TEXT_MAX);

	for (enum resource r = 0; r < RESOURCE_COUNT; r++) {
		uint64_t value = resource_get(l, r);
		if (value == 0)
			continue;
		auto_free char *amount = render_amount(r, value);
		str_addf(&out, "%s%s", out.len > 0 ? ", " : "", amount);
	}
	if (out.len == 0)
		str_add_text(&out, "unlimited");
	return str_take(&out);
}

char *render_clamp(const struct effective_clamp *c)
{
	auto_free char *asked = value_text(c->resource, c->requested);
	auto_free char *got = value_text(c->resource, c->effective);

	return mem_printf("%s: %s requested, the %s ceiling lowers it to %s",
		resource_text(c->resource), asked, ceiling_text(c->source), got);
}

char *render_unenforced(enum resource r, const char *executor)
{
	return mem_printf(
		"%s: a ceiling is set, and executor %s cannot hold it", resource_text(r), executor);
}

char *render_disk_card(struct text disk_enforcement)
{
	if (!effective_disk_enforced(disk_enforcement))
		return mem_strdup("disk: not supported");
	return mem_printf("disk: enforced (%.*s)", (int)disk_enforcement.len, disk_enforcement.p);
}
