#include "spec/apply.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"

enum { GRANTS_SHOWN = 8 };

static void narrow(uint64_t *value, uint64_t wanted)
{
	if (wanted > 0 && (*value == 0 || wanted < *value))
		*value = wanted;
}

static void apply_limits(const struct limits *wanted, struct run_spec *run)
{
	narrow(&run->limits.cpu_millis, wanted->cpu_millis);
	narrow(&run->limits.memory_mb, wanted->memory_mb);
	narrow(&run->limits.pids, wanted->pids);
	narrow(&run->limits.disk_mb, wanted->disk_mb);
	narrow(&run->workspace_size_limit_mb, wanted->disk_mb);
}

/* ---- Devices and interfaces ---- */

/* One of the two lists that a file selects from. */
struct selection {
	const struct schema_list *wanted;
	struct strv *granted;
	enum error_code denied;
	const char *what;
	const char *option; /* of cloop secret grant */
};

static int not_granted(const struct selection *s, struct strv *missing,
	const struct apply_facts *facts, struct error *err)
{
	auto_free char *names = strv_join(missing, ",");

	error_set(err, s->denied, "the project holds no grant for %s %s", s->what,
		quoted_string(names));
	error_set_remedy(err, "cloop secret grant SECRET --subject project:%s %s %s",
		facts->project ? facts->project : "PATH", s->option, names);
	return error_add_detail(err, "names", json_from_strings(missing->v, missing->n));
}

static int select_granted(
	const struct selection *s, const struct apply_facts *facts, struct error *err)
{
	AUTO(strv) missing = STRV_INIT(s->wanted->items.n);

	if (!s->wanted->given)
		return 0;
	strv_foreach (name, &s->wanted->items)
		if (!strv_has(s->granted, *name))
			strv_add(&missing, *name);
	if (missing.n > 0)
		return not_granted(s, &missing, facts, err);
	size_t max = s->granted->max;
	strv_done(s->granted);
	s->granted->max = max;
	return strv_add_all(s->granted, &s->wanted->items);
}

/* ---- Network ---- */

static bool held(const struct apply_grant *g)
{
	return g->active && g->this_project;
}

static const struct apply_grant *find_held(const struct apply_facts *facts, const char *id)
{
	for (size_t i = 0; i < facts->n_grants; i++)
		if (held(&facts->grants[i]) && strcmp(facts->grants[i].id, id) == 0)
			return &facts->grants[i];
	return NULL;
}

static const struct apply_grant *find_scope(const struct apply_facts *facts, const char *scope)
{
	for (size_t i = 0; i < facts->n_grants; i++) {
		const struct apply_grant *g = &facts->grants[i];
		if (held(g) && g->scope && strcmp(g->scope, scope) == 0)
			return g;
	}
	return NULL;
}

static void add_held_ids(const struct apply_facts *facts, struct str *out)
{
	size_t n = 0;

	for (size_t i = 0; i < facts->n_grants; i++) {
		if (!held(&facts->grants[i]))
			continue;
		if (n < GRANTS_SHOWN)
			str_addf(out, "%s%s", n ? ", " : "", facts->grants[i].id);
		n++;
	}
	if (n == 0)
		str_add_text(out, "none");
	else if (n > GRANTS_SHOWN)
		str_addf(out, " and %zu more", n - GRANTS_SHOWN);
}

static int grant_denied(const char *id, const struct apply_facts *facts, struct error *err)
{
	AUTO(str) ids = STR_INIT(ERROR_TEXT_MAX);
	const struct apply_grant *meant = find_scope(facts, id);
	auto_free char *hint =
		meant ? mem_printf("%s is a scope label: write network: %s. ", id, meant->id)
		      : mem_strdup("");

	add_held_ids(facts, &ids);
	error_set(err, ERROR_SANDBOX_GRANT_DENIED,
		"capabilities.network: the project holds no active egress grant with the ID %s",
		quoted_string(id));
	return error_set_remedy(err,
		"%scapabilities.network wants the ID of a grant; the project holds: %s. "
		"cloop egress list shows them, cloop egress grant makes one",
		hint, str_text(&ids));
}

static int apply_network(const struct spec_capabilities *c, const struct apply_facts *facts,
	struct run_spec *run, struct error *err)
{
	if (!c->network) {
		run->network_off = true;
		mem_set_string(&run->grant, NULL);
	} else {
		if (!find_held(facts, c->network))
			return grant_denied(c->network, facts, err);
		mem_set_string(&run->grant, c->network);
	}
	if (run->network_off && run->interfaces.n > 0) {
		auto_free char *names = strv_join(&run->interfaces, ", ");
		error_set(err, ERROR_INTERFACES_WITHOUT_NETWORK,
			"the run has no network while interfaces are attached to it: %s",
			quoted_string(names));
		return error_set_remedy(
			err, "name a grant in capabilities.network, or write interfaces: []");
	}
	return 0;
}

static void warn_network_off(
	const struct sandbox_spec *spec, const struct apply_facts *facts, struct problems *warnings)
{
	const char *network = facts->executor_network;

	if (spec->capabilities.network || spec->capabilities.egress || !network || !network[0] ||
		strcmp(network, "none") == 0)
		return;
	problems_add(warnings, PROBLEM_NETWORK_OFF, POSITION_NONE, "capabilities.network",
		"the file names no grant: the run has no network, though the executor would give "
		"one");
}

/* ---- All steps, on a copy ---- */

static int apply_steps(const struct spec_result *file, const struct apply_facts *facts,
	struct run_spec *run, struct error *err)
{
	const struct sandbox_spec *spec = &file->spec;
	const struct spec_capabilities *c = &spec->capabilities;
	const struct selection selections[] = {
		{&c->devices, &run->devices, ERROR_SANDBOX_DEVICE_NOT_GRANTED, "the devices",
			"--devices"},
		{&c->interfaces, &run->interfaces, ERROR_SANDBOX_INTERFACE_NOT_GRANTED,
			"the interfaces", "--interfaces"},
	};

	if (spec->image)
		mem_set_string(&run->image, spec->image);
	if (spec->setup.items.n > 0) {
		strv_done(&run->setup);
		run->setup.max = RUN_SPEC_SETUP_MAX;
		strv_add_all(&run->setup, &spec->setup.items);
	}
	if (spec->mounts.n > 0)
		run_spec_set_mounts(run, spec->mounts.v, spec->mounts.n);
	memcpy(run->sandbox_sha256, file->sha256, sizeof(run->sandbox_sha256));
	memcpy(run->setup_sha256, file->setup_sha256, sizeof(run->setup_sha256));
	apply_limits(&spec->resources, run);
	if (c->egress)
		mem_set_string(&run->egress_scope, c->egress);
	for (size_t i = 0; i < ARRAY_SIZE(selections); i++)
		if (select_granted(&selections[i], facts, err) < 0)
			return -1;
	return apply_network(c, facts, run, err);
}

int apply_spec(const struct spec_result *file, const struct apply_facts *facts,
	struct run_spec *run, struct problems *warnings, struct error *err)
{
	struct run_spec copy;

	if (!file->present)
		return 0;
	run_spec_copy(run, &copy);
	if (apply_steps(file, facts, &copy, err) < 0) {
		run_spec_done(&copy);
		return -1;
	}
	run_spec_done(run);
	*run = copy;
	warn_network_off(&file->spec, facts, warnings);
	return 0;
}
