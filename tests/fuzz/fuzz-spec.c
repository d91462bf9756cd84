/*
 * Bytes of a sandbox.yaml -> answer (sandbox-spec.md §16.2): an error means no spec; an accepted
 * spec keeps every bound, survives being written out and read again, and only narrows a run.
 */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "image/reference.h"
#include "spec/apply.h"
#include "spec/mount-path.h"
#include "spec/requirement.h"
#include "spec/spec-json.h"
#include "spec/spec.h"

#define SECRET "hunter2"

static int check_image(struct text t, struct error *err)
{
	struct image_reference ignored;

	return image_reference_parse(t, &ignored, err);
}

static const struct spec_checks checks = {.image = check_image};

/* ---- Bounds of §7 ---- */

static void check_names(const struct schema_list *l, size_t max, size_t bytes, const char *extra)
{
	assert(l->items.n <= max && (l->given || l->items.n == 0));
	for (size_t i = 0; i < l->items.n; i++) {
		struct text t = text_of(l->items.v[i]);
		assert(t.len > 0 && t.len <= bytes && text_all_word(t, extra));
		for (size_t j = 0; j < i; j++)
			assert(!text_is(t, l->items.v[j]));
	}
}

static void check_amount(uint64_t mb)
{
	assert(mb == 0 || (mb >= 64 && mb <= 1 << 20));
}

static void check_mounts(const struct sandbox_spec *s)
{
	assert(s->mounts.n <= SPEC_MAX_MOUNTS);
	for (size_t i = 0; i < s->mounts.n; i++) {
		const struct spec_mount *m = spec_mount_at(s, i);
		struct text source = text_of(m->source), target = text_of(m->target);
		assert(source.len > 0 && source.len <= MOUNT_PATH_MAX);
		assert(mount_path_source_fault(source) == PROBLEM_NONE);
		assert(mount_path_target_fault(target) == PROBLEM_NONE);
		assert(m->read_only || !mount_path_protected(source));
		for (size_t j = 0; j < i; j++) {
			struct text other = text_of(spec_mount_at(s, j)->target);
			assert(!text_equal(target, other) && !mount_path_below(target, other) &&
				!mount_path_below(other, target));
		}
	}
}

static void check_bounds(const struct sandbox_spec *s)
{
	const struct spec_capabilities *c = &s->capabilities;
	auto_error struct error err = ERROR_INIT;

	assert(!s->image || check_image(text_of(s->image), &err) == 0);
	assert(s->setup.items.n <= 32);
	for (size_t i = 0; i < s->setup.items.n; i++) {
		struct text t = text_of(s->setup.items.v[i]);
		assert(t.len > 0 && t.len <= 4096 && !text_starts(t, "--"));
		assert(!text_has_byte(t, '\n') && !text_has_byte(t, '\r'));
	}
	check_names(&s->env, 64, 256, "_");
	check_names(&c->devices, 16, 64, "._-");
	check_names(&c->interfaces, 8, 64, "._-");
	assert(s->resources.cpu_millis <= 1024000 && s->resources.pids <= 65536);
	check_amount(s->resources.memory_mb);
	check_amount(s->resources.disk_mb);
	assert(!c->network || (strlen(c->network) <= 128 && c->network[0]));
	assert(!c->egress || !strcmp(c->egress, "public") || !strcmp(c->egress, "none"));
	assert(!(c->network && c->egress && !strcmp(c->egress, "none")));
	assert(c->network || c->interfaces.items.n == 0);
	check_mounts(s);
}

/* ---- Written out and read again ---- */

static void write_text(struct str *out, const char *s)
{
	str_add_char(out, '"');
	for (; *s; s++) {
		if (*s == '\t') {
			str_add_text(out, "\\t");
			continue;
		}
		if (*s == '"' || *s == '\\')
			str_add_char(out, '\\');
		str_add_char(out, *s);
	}
	str_add_char(out, '"');
}

static void write_key(struct str *out, const char *key, const char *value)
{
	if (!value)
		return;
	str_addf(out, "%s: ", key);
	write_text(out, value);
	str_add_char(out, '\n');
}

static void write_list(struct str *out, const char *key, const struct schema_list *l)
{
	if (!l->given)
		return;
	str_addf(out, "%s: [", key);
	for (size_t i = 0; i < l->items.n; i++) {
		str_add_text(out, i ? ", " : "");
		write_text(out, l->items.v[i]);
	}
	str_add_text(out, "]\n");
}

static void write_spec(struct str *out, const struct sandbox_spec *s)
{
	const struct spec_capabilities *c = &s->capabilities;
	const struct limits *l = &s->resources;

	write_list(out, "setup", &s->setup);
	str_add_text(out, "mounts:\n");
	for (size_t i = 0; i < s->mounts.n; i++) {
		const struct spec_mount *m = spec_mount_at(s, i);
		str_addf(out, "- read_only: %s\n", m->read_only ? "true" : "false");
		write_key(out, "  target", m->target);
		write_key(out, "  source", m->source);
	}
	str_addf(out, "capabilities:\n  git: %s\n  virtualized: %s\n  kernel_isolated: %s\n",
		c->git ? "true" : "false", c->virtualized ? "true" : "false",
		c->kernel_isolated ? "true" : "false");
	write_key(out, "  network", c->network);
	write_key(out, "  egress", c->egress);
	write_list(out, "  devices", &c->devices);
	write_list(out, "  interfaces", &c->interfaces);
	str_addf(out,
		"resources:\n  cpu: %" PRIu64 ".%03" PRIu64 "\n  memory: %" PRIu64
		"m\n  pids: %" PRIu64 "\n  disk: %" PRIu64 "\n",
		l->cpu_millis / 1000, l->cpu_millis % 1000, l->memory_mb, l->pids, l->disk_mb);
	write_list(out, "env", &s->env);
	write_key(out, "image", s->image);
}

static void check_written_back(const struct spec_result *r)
{
	AUTO(str) out = STR_INIT(1 << 20);
	AUTO(spec_result) again = {0};

	write_spec(&out, &r->spec);
	if (out.len > SPEC_MAX_BYTES)
		return;
	spec_parse((struct text){out.data, out.len}, &checks, &again);
	assert(again.ok && again.present == r->present);
	assert(strcmp(again.sha256, r->sha256) == 0);
	assert(strcmp(again.setup_sha256, r->setup_sha256) == 0);
}

/* ---- Requirements and apply ---- */

static void check_applied(const struct spec_result *r)
{
	const struct spec_capabilities *c = &r->spec.capabilities;
	const struct apply_grant grant = {c->network, "scope", true, true};
	const struct apply_facts facts = {
		.grants = &grant, .n_grants = c->network ? 1 : 0, .executor_network = "bridge"};
	AUTO(run_spec) run = RUN_SPEC_INIT;
	AUTO(problems) warnings = PROBLEMS_INIT(PROBLEMS_WARNINGS_MAX);
	auto_error struct error err = ERROR_INIT;

	strv_add_all(&run.devices, &c->devices.items);
	strv_add_all(&run.interfaces, &c->interfaces.items);
	auto_json *before = run_spec_to_json(&run);
	assert(apply_spec(r, &facts, &run, &warnings, &err) == 0);
	auto_json *after = run_spec_to_json(&run);
	assert(r->present || json_equal(before, after));
	assert(!r->present || run.network_off == !c->network);
	assert(!(run.network_off && run.interfaces.n > 0));
}

static void check_requirements(const struct spec_result *r)
{
	AUTO(requirement) need = {0};

	requirement_of(&r->spec, NULL, &need);
	assert(!need.workspace_provisioning && !need.shares_host_filesystem && !need.host_mounts);
	assert(need.network_off || need.network_egress);
}

/* ---- Problems ---- */

static void check_problems(const struct problems *ps)
{
	assert(ps->n <= ps->max + 1);
	for (size_t i = 0; i < ps->n; i++) {
		const struct problem *p = &ps->v[i];
		assert(p->code[0] && p->message[0]);
		assert(strlen(p->message) <= PROBLEM_TEXT_MAX && utf8_valid(text_of(p->message)));
		assert(strlen(p->path) < NODE_PATH_MAX && !text_has_control(text_of(p->path)));
		if (i > 0)
			assert(p[-1].at.line < p->at.line ||
				(p[-1].at.line == p->at.line && p[-1].at.column <= p->at.column));
	}
}

/* A text that begins with a secret in an item of env, and holds it nowhere else: it stays inside.
 */
static void check_secret(const uint8_t *data, size_t size, const struct spec_result *r)
{
	static const char head[] = "env: [\"X=" SECRET;
	const size_t n = strlen(head);

	if (size < n || memcmp(data, head, n) != 0 ||
		memmem(data + n, size - n, SECRET, strlen(SECRET)))
		return;
	auto_json *answer = spec_json_check(r);
	auto_free char *text = json_write(answer);
	assert(!strstr(text, SECRET));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(spec_result) r = {0};

	spec_parse((struct text){(const char *)data, size}, &checks, &r);
	check_problems(&r.errors);
	check_problems(&r.warnings);
	check_secret(data, size, &r);
	if (!r.ok) {
		const struct sandbox_spec none = {0};
		assert(r.errors.n > 0 && memcmp(&r.spec, &none, sizeof(none)) == 0);
		assert(!r.sha256[0] && !r.setup_sha256[0]);
		return 0;
	}
	assert(r.errors.n == 0 && r.present == (r.sha256[0] != '\0'));
	check_bounds(&r.spec);
	check_written_back(&r);
	check_applied(&r);
	if (r.present)
		check_requirements(&r);
	return 0;
}
