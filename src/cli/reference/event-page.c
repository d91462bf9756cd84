#include "cli/reference/event-page.h"

#include "base/cleanup.h"
#include "cli/reference/markdown.h"

struct row {
	const char *name, *detail, *meaning;
};

// clang-format off
static const struct row audit[] = {
	{"sandbox.image_denied", "image, rule, detail, origin, registry, repository, reason, project, executor_id", "a dispatch was refused by the image policy"},
	{"executor.bind", "project, executor_id, previous", "a project was bound to an executor, or to none"},
	{"limits.set", "project or executor, before, after", "a ceiling was set"},
	{"limits.clear", "project or executor, before, after", "the last ceiling was taken away"},
	{"secret.mint", "id, name, kind, owner", "a secret was stored"},
	{"secret.delete", "id, name, kind, owner", "it was deleted"},
	{"secret.grant", "id, secret, secret_id, kind, subject, summary, scope, expires_at", "it was granted"},
	{"secret.revoke", "grant, secret, kind, subject, action, reason", "the grant was taken back"},
	{"secret.rekey", "kek, old_kek, from, to, secrets", "all secrets were sealed with another key"},
	{"lease.open", "decision, lease, grants, expires_at, hard_end, handle, project, executor_id", "a run got what was granted; with decision `deny`, what a matching grant could not deliver"},
	{"lease.extend", "lease, handle, expires_at, grants", "a run asked, and what is still granted goes on"},
	{"lease.expire", "lease, handle, grant", "a grant or a whole lease was over while a run held it"},
	{"lease.release", "lease, handle", "the run ended"},
	{"lease.revoke_sent", "lease, handle, grant, action, reason", "a run is about to be told of a revocation"},
	{"lease.revoke_acked", "the same, outcome, effect, message", "it did what it was told"},
	{"lease.revoke_failed", "the same, outcome, effect, message", "it could not, or did not answer"},
	{"attach.open", "run, project, executor_id, command, session, write, tty", "somebody attached to a run"},
	{"attach.close", "the same, exit_code, left, leftover, reason", "the session is over"},
	{"task.finish", "task, project, run, status, outcome, exit_code; stop, disk_used_mb, disk_limit_mb", "an attempt of a task ended"},
	{"egress.grant", "decision, actor, grant_id, subject, scope, policy, expires_at", "an egress grant was made"},
	{"egress.revoke", "decision, grant_id, subject, action, reason", "it was taken back"},
	{"egress.open", "decision, actor, subject, grant_id, session, executor_id, project, handle, deadline", "a run got a session at its proxy"},
	{"egress.renew", "the same", "its deadline was moved"},
	{"egress.restore", "the same, time, bytes_up, bytes_down, reason", "a supervisor that adopted the run started its proxy again"},
	{"egress.close", "the same, bytes_up, bytes_down, reason", "the session ended"},
	{"egress.connect", "the same, decision, verdict, host, port, address, bytes_up, bytes_down, reason, count", "a tunnel through the proxy: allowed, or denied"},
	{"egress.request", "the same", "a request through the proxy"},
	{"egress.unauthenticated", "the same, count", "connections without the session's token"},
	{"egress.filter_lost", "decision, verdict, executor_id, project, handle", "a run's packet filter was taken away, and the run's network with it"},
	{"disk_low", "project, run, message, at", "a filesystem fell below the floor of free space, or rose again"},
};

static const struct row journal[] = {
	{"task.add", "", "a task was added"},
	{"task.start", "", "a run of it began"},
	{"task.finish", "", "it ended"},
	{"task.reset", "", "it was made pending again"},
	{"artifact", "", "the task's artifact could not be written"},
	{"refused", "", "a run was refused before it started"},
	{"timeout", "", "a run was ended: its time was over"},
	{"oom", "", "a run ran out of memory"},
	{"disk_limit", "", "a run passed its disk limit, or would begin above it"},
	{"revoked", "", "a run was ended: a grant was taken back"},
	{"lost", "", "a run is gone and nobody knows its status"},
	{"disk_low", "", "runs wait, or are frozen, for want of free space, or go on"},
	{"executor.bind", "", "the project was bound to an executor, or to none"},
	{"limits.set", "", "the project's ceiling was set"},
	{"limits.clear", "", "it was taken away"},
	{"egress.grant", "", "an egress grant for the project was made"},
	{"egress.revoke", "", "it was taken back"},
};

static const struct row warnings[] = {
	{"build_without_network", "", "the image for `setup` was built without a network, since that of the run is filtered"},
	{"container_left", "", "the container could not be removed; `cloop executor reap` takes it"},
	{"disk_low", "", "the run waited, or was frozen, for want of free space"},
	{"disk_unknown", "", "how much the workspace holds is not known"},
	{"egress_events_lost", "", "events of the proxy are missing in the audit trail"},
	{"egress_filter_disabled", "", "the network is not filtered: `egress_filter` says what to open and is not `enabled`"},
	{"egress_filter_lost", "", "the packet filter was taken away; the sandbox lost its network"},
	{"egress_proxy_failed", "", "the proxy ended; the sandbox reaches nothing any more"},
	{"egress_unenforced", "", "nothing makes programs in the sandbox use the proxy"},
	{"engine_call_failed", "", "the engine reported a failure after the start"},
	{"env_withheld", "", "a variable of `--env` that `env` of the project's file does not name"},
	{"extra_dns_ignored", "", "resolvers of `extra_args` are left out"},
	{"image_unchecked", "", "the signature of one of cloop's own images could not be checked"},
	{"image_unsigned", "", "an image under the name of one of cloop's own carries no signature"},
	{"image_not_pinned", "", "the image has no digest; it ran by its ID"},
	{"init_mute", "", "the sandbox's init does not answer; its end is found another way"},
	{"interface_lost", "", "a granted interface is gone"},
	{"interface_stranded", "", "a granted interface did not come back to the host as it was"},
	{"internal_host_open", "", "the sandbox reaches this host's addresses at its gateway"},
	{"lease_expired", "", "a grant was over; its files were wiped"},
	{"lease_revoked", "", "a grant was taken back while the run held it"},
	{"lease_revoke_failed", "", "what was taken back could not be wiped"},
	{"limit_unheld", "", "a limit of the configuration that this executor cannot hold: nothing bounds the run there"},
	{"limits_unread", "", "the run ended before its limits could be read back"},
	{"log_write_failed", "", "output is missing in the log"},
	{"neighbours_open", "", "sandboxes on the same network reach each other"},
	{"oom_kill", "", "the kernel killed a process of the run, which went on"},
	{"output_unread", "", "files of secrets were taken away from outside before a new supervisor came: what the run prints cannot be masked, and is not read"},
	{"processes_left", "", "processes of a run of `localprocess` could not be ended"},
	{"project_control_file_created", "", "the run made a file that cloop reads at the next run"},
	{"resource_ceiling", "", "a limit was lowered by a ceiling, or a ceiling cannot be held here"},
	{"secret_stage_left", "", "files of secrets could not be wiped; the next command tries again"},
	{"signal_failed", "", "a signal did not reach the sandbox"},
	{"stop_again", "", "a second reason to stop came while the run was being stopped"},
};
// clang-format on

static void add_table(struct str *out, const char *head, const struct row *rows, size_t n)
{
	str_add_text(out, head);
	for (size_t i = 0; i < n; i++) {
		str_addf(out, "| `%s` | ", rows[i].name);
		if (rows[i].detail[0])
			str_addf(out, "%s | ", rows[i].detail);
		markdown_cell(out, rows[i].meaning);
		str_add_text(out, " |\n");
	}
}

void event_page(struct str *out)
{
	markdown_title(out, "Events");
	add_table(out,
		"\n## The audit trail\n\n"
		"`cloop audit list`: what was refused, granted and taken back, in a chain of "
		"hashes.\n"
		"A row has `seq`, `time`, `action`, `entity`, `actor`, `payload`, `previous`, "
		"`hash`.\n\n"
		"| action | payload | when |\n|---|---|---|\n",
		audit, ARRAY_SIZE(audit));
	add_table(out,
		"\n## The journal\n\n"
		"`cloop journal`: what happened in a project, for its owner; the last 10,000 rows "
		"of "
		"each\n"
		"project are kept. A row has `seq`, `time`, `kind`, `run`, `task`, `message`. The "
		"warnings of a\n"
		"run are rows, too, with their code as the kind.\n\n"
		"| kind | when |\n|---|---|\n",
		journal, ARRAY_SIZE(journal));
	add_table(out,
		"\n## Warnings\n\n"
		"`warnings[].code` of a run's record. Those about the project's file have the "
		"codes "
		"of\n"
		"[sandbox-yaml.md](sandbox-yaml.md).\n\n"
		"| code | meaning |\n|---|---|\n",
		warnings, ARRAY_SIZE(warnings));
}
