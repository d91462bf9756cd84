#include "runner/case.h"

#include <string.h>

#include "base/mem.h"

enum { LINE_MAX_BYTES = 4 << 20 };

static const struct case_kind *const sandbox_tables[] = {
#ifdef HAVE_CASES_SPEC
	case_spec_kinds,
#endif
#ifdef HAVE_CASES_PLACEMENT
	case_placement_kinds,
#endif
	NULL};
static const struct case_kind *const image_tables[] = {
#ifdef HAVE_CASES_IMAGE
	case_image_kinds, case_image_policy_kinds, case_image_trust_kinds, case_image_setup_kinds,
#endif
	NULL};
static const struct case_kind *const container_tables[] = {
#ifdef HAVE_CASES_VALIDATE
	case_validate_kinds,
#endif
#ifdef HAVE_CASES_ARGV
	case_argv_kinds,
#endif
#ifdef HAVE_CASES_RUN
	case_run_kinds,
#endif
#ifdef HAVE_CASES_GUEST
	case_guest_kinds,
#endif
	NULL};
static const struct case_kind *const secrets_tables[] = {
#ifdef HAVE_CASES_SECRETS
	case_secrets_kinds, case_secrets_payload_kinds,
#endif
#ifdef HAVE_CASES_SEAL
	case_seal_kinds,
#endif
	NULL};
static const struct case_kind *const net_tables[] = {
#ifdef HAVE_CASES_NET
	case_net_kinds, case_net_policy_kinds,
#endif
#ifdef HAVE_CASES_EGRESS
	case_egress_kinds,
#endif
	NULL};

static const struct case_kind *const disk_tables[] = {
#ifdef HAVE_CASES_DISK
	case_disk_kinds, case_walk_kinds,
#endif
	NULL};

static const struct area {
	const char *name;
	const struct case_kind *const *tables;
} areas[] = {
	{"sandbox", sandbox_tables},
	{"image", image_tables},
	{"container", container_tables},
	{"disk", disk_tables},
	{"secrets", secrets_tables},
	{"net", net_tables},
};

static const struct area *find_area(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(areas); i++)
		if (strcmp(areas[i].name, name) == 0)
			return &areas[i];
	return NULL;
}

static const struct case_kind *find_kind(const struct area *area, const char *kind)
{
	for (const struct case_kind *const *t = area->tables; *t; t++)
		for (const struct case_kind *k = *t; k->kind; k++)
			if (strcmp(k->kind, kind) == 0)
				return k;
	return NULL;
}

static const char *unknown_field(const struct case_kind *k, json_t *c)
{
	const char *key;
	json_t *value;

	json_object_foreach(c, key, value)
	{
		bool known = !strcmp(key, "kind") || !strcmp(key, "name") || !strcmp(key, "expect");
		for (size_t i = 0; !known && k->fields[i]; i++)
			known = strcmp(k->fields[i], key) == 0;
		if (!known)
			return key;
	}
	return NULL;
}

bool case_has_subset(json_t *expected, json_t *got)
{
	const char *key;
	json_t *value;

	if (!json_is_object(expected))
		return got && json_equal(expected, got);
	json_object_foreach(expected, key,
		value) if (!case_has_subset(value, json_object_get(got, key))) return false;
	return json_is_object(got);
}

void case_exact(struct case_result *r, json_t *c, json_t *got)
{
	r->got = got;
	r->ok = json_equal(json_object_get(c, "expect"), got);
}

void case_subset(struct case_result *r, json_t *c, json_t *got)
{
	r->got = got;
	r->ok = case_has_subset(json_object_get(c, "expect"), got);
}

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

struct text case_base64(struct text encoded)
{
	char *out = mem_alloc(encoded.len / 4 * 3 + 3);
	size_t n = 0;
	unsigned bits = 0, have = 0;

	for (size_t i = 0; i < encoded.len && encoded.p[i] != '='; i++) {
		const char *at = strchr(alphabet, encoded.p[i]);
		if (!at || encoded.p[i] == '\0')
			break;
		bits = bits << 6 | (unsigned)(at - alphabet);
		have += 6;
		if (have >= 8) {
			have -= 8;
			out[n++] = (char)(bits >> have & 255);
		}
	}
	return (struct text){out, n};
}

json_t *case_to_base64(struct text bytes)
{
	AUTO(str) out = STR_INIT(bytes.len * 2 + 8);

	for (size_t i = 0; i < bytes.len; i += 3) {
		unsigned left = (unsigned)(bytes.len - i < 3 ? bytes.len - i : 3), v = 0;
		for (unsigned j = 0; j < 3; j++)
			v = v << 8 | (j < left ? (unsigned char)bytes.p[i + j] : 0);
		for (unsigned j = 0; j < 4; j++)
			str_add_char(&out, j <= left ? alphabet[v >> (18 - 6 * j) & 63] : '=');
	}
	return json_string(str_text(&out));
}

static bool run_line(const struct area *area, struct text line, size_t number)
{
	auto_error struct error err = ERROR_INIT;
	auto_json *c = json_read(line, LINE_MAX_BYTES, "case", ERROR_USAGE, &err);
	struct case_result r = {0};

	if (!c) {
		printf("not ok %zu - unreadable line # %s\n", number, err.message);
		return false;
	}
	const char *name = json_get_string(c, "name"), *kind = json_get_string(c, "kind");
	const struct case_kind *k = kind ? find_kind(area, kind) : NULL;
	const char *unknown = k ? unknown_field(k, c) : NULL;
	if (!k || unknown) {
		printf("not ok %zu - %s: %s # %s %s\n", number, kind ? kind : "?",
			name ? name : "?", k ? "unknown field" : "unknown kind", k ? unknown : "");
		return false;
	}
	k->run(c, &r);
	if (r.skip) {
		printf("ok %zu - %s: %s # SKIP %s\n", number, kind, name, r.skip);
		return true;
	}
	auto_free char *got = json_write(r.got);
	auto_free char *expect = json_write(json_object_get(c, "expect"));
	printf("%s %zu - %s: %s # got %s\n", r.ok ? "ok" : "not ok", number, kind, name, got);
	if (!r.ok)
		printf("#   expected %s\n", expect);
	json_decref(r.got);
	return r.ok;
}

static bool run_file(const struct area *area, const char *path, size_t *number)
{
	auto_file FILE *f = fopen(path, "re");
	auto_free char *line = NULL;
	size_t size = 0;
	ssize_t n;
	bool ok = true;

	if (!f) {
		printf("not ok %zu - %s # cannot be opened\n", ++*number, path);
		return false;
	}
	while ((n = getline(&line, &size, f)) > 0) {
		struct text t = text_trim((struct text){line, (size_t)n});
		if (t.len > 0 && !run_line(area, t, ++*number))
			ok = false;
	}
	return ok;
}

int main(int argc, char **argv)
{
	const struct area *area = argc > 2 ? find_area(argv[1]) : NULL;
	size_t number = 0;
	bool ok = true;

	if (!area) {
		fputs("usage: case-runner sandbox|image|container|disk|secrets FILE…\n", stderr);
		return 2;
	}
	for (int i = 2; i < argc; i++)
		if (!run_file(area, argv[i], &number))
			ok = false;
	printf("1..%zu\n", number);
	return ok && number > 0 ? 0 : 1;
}
