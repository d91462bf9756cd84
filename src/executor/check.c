#include "executor/check.h"

#include <inttypes.h>

#include "executor/build.h"
#include "limits/effective.h"

enum { WORD_MAX = 64, REASON_MAX = 400 };

struct check {
	const struct check_policy *policy;
	const struct candidate *c;
	const struct requirement *need;
	struct str *detail;
};

static void say_word(const struct check *k, const char *before, struct text word, const char *after)
{
	str_add_text(k->detail, before);
	text_quote(k->detail, word, WORD_MAX);
	str_add_text(k->detail, after);
}

static bool text_same_nocase(struct text a, struct text b)
{
	if (a.len != b.len)
		return false;
	for (size_t i = 0; i < a.len; i++)
		if (ascii_to_lower(a.p[i]) != ascii_to_lower(b.p[i]))
			return false;
	return true;
}

/* The rows: true = fails, and says why in k->detail. */

static bool other_executor(const struct check *k)
{
	struct text pinned = text_of(k->need->executor_id);

	if (pinned.len == 0 || text_equal(pinned, k->c->id))
		return false;
	say_word(k, "the run is pinned to executor ", pinned, "");
	return true;
}

static bool unhealthy(const struct check *k)
{
	if (candidate_ready(k->c))
		return false;
	if (candidate_degraded(k->c) && !k->need->forbid_degraded)
		return false;
	say_word(k, "it reports ", k->c->health, "");
	if (candidate_degraded(k->c))
		str_add_text(k->detail, ", and a degraded executor is not wanted");
	if (k->c->health_reason.len > 0) {
		str_add_text(k->detail, ": ");
		text_escape(k->detail, k->c->health_reason, REASON_MAX);
	}
	return true;
}

static bool host_denied(const struct check *k)
{
	if (k->policy->host_execution || candidate_isolates(k->c))
		return false;
	say_word(k, "it does not isolate workloads (isolation ", k->c->isolation,
		"), and executors.allow_host_process is off");
	return true;
}

static bool agent_old(const struct check *k)
{
	struct text minimum = k->policy->min_agent_build;

	if (!k->c->agent || minimum.len == 0)
		return false;
	if (!build_valid(minimum)) {
		say_word(k, "executors.min_agent_build is ", minimum,
			", which is no vMAJOR.MINOR.PATCH: no agent gets work");
		return true;
	}
	if (build_compare(k->c->build, minimum) >= 0)
		return false;
	say_word(k, "its agent is build ", k->c->build, "");
	say_word(k, ", executors.min_agent_build wants ", minimum, "");
	return true;
}

static bool isolation_wrong(const struct check *k)
{
	const struct requirement *need = k->need;

	if (need->isolation_required && !candidate_isolates(k->c)) {
		say_word(k, "it does not isolate workloads (isolation ", k->c->isolation, ")");
		return true;
	}
	strv_foreach (allowed, &need->isolation_allowed)
		if (text_is(k->c->isolation, *allowed))
			return false;
	if (need->isolation_allowed.n == 0)
		return false;
	say_word(k, "its isolation ", k->c->isolation, " is not among those allowed");
	return true;
}

static bool not_virtualized(const struct check *k)
{
	if (!k->need->virtualization || k->c->virtualized)
		return false;
	str_add_text(k->detail,
		"it runs workloads without a hypervisor: set executors.container.oci_runtime or "
		"executors.kubernetes.runtime_class to a Kata runtime");
	return true;
}

static bool not_kernel_isolated(const struct check *k)
{
	if (!k->need->kernel_isolation || candidate_kernel_isolated(k->c))
		return false;
	str_add_text(k->detail,
		"its workloads share the host's kernel: set executors.container.oci_runtime or "
		"executors.kubernetes.runtime_class to a gVisor or Kata runtime");
	return true;
}

static const struct candidate_label *find_label(const struct candidate *c, const char *key)
{
	for (size_t i = 0; i < c->n_labels; i++)
		if (text_is(c->labels[i].key, key))
			return &c->labels[i];
	return NULL;
}

static bool label_matches(const struct candidate *c, const struct requirement_label *wanted)
{
	const struct candidate_label *have = find_label(c, wanted->key);

	return have && text_is(have->value, wanted->value);
}

/* The smallest key by bytes among those that do not match, so that the same one is named. */
static bool labels_differ(const struct check *k)
{
	const struct requirement_label *missing = NULL;

	for (size_t i = 0; i < k->need->n_labels; i++) {
		const struct requirement_label *l = &k->need->labels[i];
		if (!label_matches(k->c, l) && (!missing || strcmp(l->key, missing->key) < 0))
			missing = l;
	}
	if (!missing)
		return false;
	const struct candidate_label *have = find_label(k->c, missing->key);
	say_word(k, "label ", text_of(missing->key), "");
	say_word(k, " must be ", text_of(missing->value), "");
	if (have)
		say_word(k, ", it is ", have->value, "");
	else
		str_add_text(k->detail, ", it has none");
	return true;
}

static bool differ(const struct check *k, const char *word, struct text have)
{
	struct text wanted = text_of(word);

	if (wanted.len == 0 || have.len == 0 || text_same_nocase(wanted, have))
		return false;
	say_word(k, "it is ", have, "");
	say_word(k, ", the workload wants ", wanted, "");
	return true;
}

static bool platform_differs(const struct check *k)
{
	return differ(k, k->need->platform, k->c->platform);
}

static bool arch_differs(const struct check *k)
{
	return differ(k, k->need->arch, k->c->arch);
}

static bool has_program(const struct candidate *c, struct text wanted)
{
	for (size_t i = 0; i < c->n_harnesses; i++)
		if (text_same_nocase(text_trim(c->harnesses[i]), wanted))
			return true;
	return c->n_harnesses == 0;
}

static bool program_missing(const struct check *k)
{
	strv_foreach (program, &k->need->harnesses) {
		struct text wanted = text_trim(text_of(*program));
		if (wanted.len == 0 || has_program(k->c, wanted))
			continue;
		say_word(k, "it does not list the program ", wanted, "");
		return true;
	}
	return false;
}

static bool runtime_missing(const struct check *k)
{
	if (!k->need->container_runtime || k->c->n_container_runtimes > 0)
		return false;
	str_add_text(k->detail, "it has no container engine");
	return true;
}

static void name_policy_probe(const struct check *k)
{
	if (text_is(k->c->kind, "kubernetes"))
		str_add_text(k->detail, ": prove that the cluster enforces network policies with "
					"cloop hub doctor --probe-network-policy");
}

static bool network_not_off(const struct check *k)
{
	bool enforced = text_is(k->c->network_off, "enforced");
	bool unproven = text_is(k->c->network_off, "unproven");

	if (k->need->network_off == REQUIREMENT_NETWORK_OFF_NOT || enforced)
		return false;
	if (k->need->network_off == REQUIREMENT_NETWORK_OFF_ANY && unproven)
		return false;
	str_add_text(k->detail, unproven ? "it cannot prove that a network that is off stays off"
					 : "it cannot take the network away from a workload");
	name_policy_probe(k);
	return true;
}

static bool disk_not_held(const struct check *k)
{
	if (!k->need->disk_limit || effective_disk_enforced(k->c->disk_enforcement))
		return false;
	if (k->c->disk_reason.len > 0)
		text_escape(k->detail, k->c->disk_reason, CHECK_DETAIL_MAX / 4);
	else
		str_add_text(k->detail, "it cannot hold a disk limit: use a container or "
					"Kubernetes executor, or drop resources.disk");
	return true;
}

static bool cannot_scope_egress(const struct check *k)
{
	if (!k->need->egress_scope || k->c->egress_scope)
		return false;
	str_add_text(k->detail, "it cannot limit where a sandbox connects to");
	name_policy_probe(k);
	return true;
}

static bool cannot_move_interfaces(const struct check *k)
{
	if (!k->need->interfaces || k->c->interfaces)
		return false;
	str_add_text(k->detail, "it cannot move a network interface into a sandbox");
	if (k->c->interfaces_reason.len > 0) {
		str_add_text(k->detail, " (");
		text_escape(k->detail, k->c->interfaces_reason, WORD_MAX);
		str_add_text(k->detail, ")");
	}
	str_add_text(k->detail,
		"; a Kata guest or gVisor never sees a device that is moved in after its start");
	return true;
}

static bool memory_small(const struct check *k)
{
	uint64_t wanted = k->need->min_memory_mb;

	if (wanted == 0 || k->c->memory_mb <= 0 || (uint64_t)k->c->memory_mb >= wanted)
		return false;
	str_addf(k->detail, "it has %" PRId64 " MB of memory, %" PRIu64 " MB are wanted",
		k->c->memory_mb, wanted);
	return true;
}

static bool full(const struct check *k)
{
	if (k->need->ignore_capacity || candidate_free_slots(k->c) > 0)
		return false;
	str_addf(k->detail, "it runs %" PRId64 " workloads, its maximum is %" PRId64,
		k->c->in_flight, k->c->max_concurrent);
	return true;
}

/* A row is a function, or two booleans and what is said when the first is not met. */
static const struct row {
	enum constraint constraint;
	bool moment; /* not about ability: no row of the gate */
	bool (*fails)(const struct check *k);
	size_t wanted; /* offset in struct requirement */
	size_t able;   /* offset in struct candidate */
	const char *detail;
} rows[] = {
#define FN(constraint, fn) \
	{ \
		CONSTRAINT_##constraint, false, fn, 0, 0, NULL \
	}
#define MOMENT(constraint, fn) \
	{ \
		CONSTRAINT_##constraint, true, fn, 0, 0, NULL \
	}
#define FLAG(constraint, name, detail) \
	{ \
		CONSTRAINT_##constraint, false, NULL, offsetof(struct requirement, name), \
			offsetof(struct candidate, name), detail \
	}
	MOMENT(EXECUTOR_ID, other_executor),
	MOMENT(HEALTH, unhealthy),
	FN(HOST_EXECUTION_POLICY, host_denied),
	FN(AGENT_BUILD, agent_old),
	FN(ISOLATION, isolation_wrong),
	FN(VIRTUALIZATION, not_virtualized),
	FN(KERNEL_ISOLATION, not_kernel_isolated),
	FN(LABELS, labels_differ),
	FN(PLATFORM, platform_differs),
	FN(ARCH, arch_differs),
	FN(HARNESS, program_missing),
	FN(CONTAINER_RUNTIME, runtime_missing),
	FLAG(NETWORK_EGRESS, network_egress, "its workloads have no network"),
	FN(NETWORK_OFF, network_not_off),
	FLAG(RESOURCE_LIMITS, resource_limits,
		"it cannot hold limits on cpu and memory, so it takes no file with resources, of "
		"disk neither"),
	FLAG(PIDS_LIMIT, pids_limit, "it cannot hold a limit on processes"),
	FN(DISK_LIMIT, disk_not_held),
	FLAG(IMAGE_OVERRIDE, image_override, "it cannot run a project's own image"),
	FLAG(SANDBOX_BUILD, sandbox_build,
		"it cannot build an image from setup: build it beforehand, publish it and name "
		"the result in image:"),
	FLAG(SANDBOX_MOUNTS, sandbox_mounts, "it cannot mount directories of the project"),
	FLAG(HOST_MOUNTS, host_mounts, "it cannot mount granted repositories"),
	FLAG(DEVICES, devices, "it cannot give devices to a sandbox"),
	FN(INTERFACES, cannot_move_interfaces),
	FN(EGRESS_SCOPE, cannot_scope_egress),
	FLAG(WORKSPACE, workspace_provisioning, "it cannot fetch a workspace"),
	FLAG(WORKSPACE, shares_host_filesystem, "it does not see this host's files"),
	FLAG(WRITE_BACK, write_back, "it cannot bring results back"),
	FLAG(WORKSPACE, branch_bundle, "it cannot take a shipped branch"),
	FLAG(WORKSPACE, project_seed, "it cannot take a project's state"),
	FLAG(SECRET_FILES, secret_files, "it cannot deliver secrets as files"),
	FLAG(REVOCATION, revocation, "it cannot take leases back from a running sandbox"),
	FLAG(STREAM, stream, "it cannot stream output"),
	FLAG(SIGNAL, signal, "it cannot signal a workload"),
	MOMENT(MEMORY, memory_small),
	MOMENT(CAPACITY, full),
#undef FN
#undef MOMENT
#undef FLAG
};

static bool flag_at(const void *object, size_t offset)
{
	return *(const bool *)((const char *)object + offset);
}

static bool row_fails(const struct row *row, const struct check *k)
{
	if (row->fails)
		return row->fails(k);
	if (!flag_at(k->need, row->wanted) || flag_at(k->c, row->able))
		return false;
	str_add_text(k->detail, row->detail);
	return true;
}

int check_candidate(const struct check_policy *policy, const struct candidate *c,
	const struct requirement *need, enum check_scope scope, struct rejection *ret)
{
	AUTO(str) detail = STR_INIT(CHECK_DETAIL_MAX);
	struct check k = {policy, c, need, &detail};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if ((scope == CHECK_ABILITY && rows[i].moment) || !row_fails(&rows[i], &k))
			continue;
		ret->constraint = rows[i].constraint;
		memcpy(ret->detail, str_text(&detail), detail.len + 1);
		return 1;
	}
	return 0;
}
