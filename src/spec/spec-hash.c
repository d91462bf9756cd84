#include "spec/spec-hash.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* Longer than any canonical text of a file of 64 KiB. */
enum { CANONICAL_MAX = 4 * SPEC_MAX_BYTES };

static void line(struct str *out, const char *key, const char *value)
{
	str_add_text(out, key);
	str_add_char(out, '=');
	str_add_text(out, value);
	str_add_char(out, '\n');
}

static void number(struct str *out, const char *key, uint64_t n)
{
	if (n > 0)
		str_addf(out, "%s=%" PRIu64 "\n", key, n);
}

static void flag(struct str *out, const char *key, bool set)
{
	if (set)
		line(out, key, "true");
}

static void text(struct str *out, const char *key, const char *value)
{
	if (value)
		line(out, key, value);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorted by bytes; a single "key=" for an empty list. */
static void names(struct str *out, const char *key, const struct schema_list *list)
{
	const char *sorted[64];

	if (!list->given)
		return;
	if (list->items.n == 0)
		line(out, key, "");
	assert(list->items.n <= ARRAY_SIZE(sorted));
	for (size_t i = 0; i < list->items.n; i++)
		sorted[i] = list->items.v[i];
	qsort(sorted, list->items.n, sizeof(*sorted), compare_names);
	for (size_t i = 0; i < list->items.n; i++)
		line(out, key, sorted[i]);
}

static int compare_targets(const void *a, const void *b)
{
	const struct spec_mount *x = *(const struct spec_mount *const *)a;
	const struct spec_mount *y = *(const struct spec_mount *const *)b;

	return strcmp(x->target, y->target);
}

static void mounts(struct str *out, const struct sandbox_spec *s)
{
	const struct spec_mount *sorted[SPEC_MAX_MOUNTS] = {NULL};

	for (size_t i = 0; i < s->mounts.n; i++)
		sorted[i] = spec_mount_at(s, i);
	qsort(sorted, s->mounts.n, sizeof(const struct spec_mount *), compare_targets);
	for (size_t i = 0; i < s->mounts.n; i++) {
		const struct spec_mount *m = sorted[i];
		str_addf(out, "mount=%s:%s:%s\n", m->source, m->target, m->read_only ? "ro" : "rw");
	}
}

bool spec_hash_text(const struct sandbox_spec *s, struct str *out)
{
	const struct spec_capabilities *c = &s->capabilities;

	str_add_text(out, "cloop-sandbox-1\n");
	size_t head = out->len;
	text(out, "image", s->image);
	for (size_t i = 0; i < s->setup.items.n; i++)
		line(out, "setup", s->setup.items.v[i]);
	names(out, "env", &s->env);
	number(out, "cpu_millis", s->resources.cpu_millis);
	number(out, "memory_mb", s->resources.memory_mb);
	number(out, "pids", s->resources.pids);
	number(out, "disk_mb", s->resources.disk_mb);
	flag(out, "git", c->git);
	text(out, "network", c->network);
	flag(out, "virtualized", c->virtualized);
	flag(out, "kernel_isolated", c->kernel_isolated);
	text(out, "egress", c->egress);
	names(out, "device", &c->devices);
	names(out, "interface", &c->interfaces);
	mounts(out, s);
	return out->len > head;
}

bool spec_hash_setup_text(const struct sandbox_spec *s, struct str *out)
{
	if (s->setup.items.n == 0)
		return false;
	str_add_text(out, "cloop-setup-1\n");
	text(out, "image", s->image);
	for (size_t i = 0; i < s->setup.items.n; i++)
		line(out, "run", s->setup.items.v[i]);
	return true;
}

bool spec_hash(const struct sandbox_spec *s, char sha256[SHA256_HEX_SIZE],
	char setup_sha256[SHA256_HEX_SIZE])
{
	AUTO(str) canonical = STR_INIT(CANONICAL_MAX);
	AUTO(str) setup = STR_INIT(CANONICAL_MAX);
	bool present = spec_hash_text(s, &canonical);

	sha256[0] = setup_sha256[0] = '\0';
	if (present)
		sha256_hex((struct text){canonical.data, canonical.len}, sha256);
	if (spec_hash_setup_text(s, &setup))
		sha256_hex((struct text){setup.data, setup.len}, setup_sha256);
	assert(!str_full(&canonical) && !str_full(&setup));
	return present;
}
