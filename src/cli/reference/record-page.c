#include "cli/reference/record-page.h"

#include "cli/reference/markdown.h"
#include "executor/container/decisions/classify.h"

static const char intro[] =
	"\nThe record of a run is one JSON object: the answer of `cloop run --json`, `status`, "
	"`wait`\n"
	"and (per run) `ps --json`, the file of `cloop run --record FILE`, and `status.json` in "
	"the\n"
	"run's directory below `HOME/runs/`. Every member of the first table is there from the\n"
	"beginning, `null` where nothing is known, unless the type says \"maybe\". A record in a "
	"final\n"
	"state does not change any more, but for the warning `container_left`.\n\n"
	"`status.json` has one more member, `supervision`: what the run's supervisor needs to go "
	"on\n"
	"after it was killed. It is no interface and changes from version to version.\n";

// clang-format off
const struct record_page_row record_page_rows[] = {
	{"handle", "text", "`c-` and 12 hexadecimal digits; `null` in the record of a run that was refused before it had a directory"},
	{"executor_id", "text", "the executor that was chosen"},
	{"executor_kind", "text", "`container`, `localprocess`"},
	{"isolation", "text", "what keeps the sandbox in, as `cloop executor show` says it"},
	{"project", "text", "resolved path of the project; bytes that are no UTF-8 are replaced"},
	{"task_id", "number", "of a run of a task"},
	{"title", "text", "of `--title`, or of the task"},
	{"state", "text", "see below"},
	{"reason", "maybe text", "`disk_low`: why a run waits to start, or is frozen"},
	{"outcome", "text", "how it ended, see below; `null` before that"},
	{"exit_code", "number", "0 to 255; 128+n of one that signal n ended; `null` where there is none"},
	{"signal", "number", "the signal that ended it, of state `killed`"},
	{"error", "text", "of a run that did not start, was lost, or was ended by cloop: why"},
	{"code", "text", "the error's code ([errors.md](errors.md))"},
	{"remediation", "text", "what helps against it"},
	{"image_requested", "text", "the reference as the project's file has it; empty: it names none"},
	{"image", "text", "the reference that was resolved; with `setup` that of the base"},
	{"image_digest", "text", "`sha256:…` of it"},
	{"image_id", "maybe text", "the engine's ID of what ran, an image built for `setup` included"},
	{"reproducible", "true or false", "the image is pinned by a digest"},
	{"sandbox_sha256", "text", "of the normal form of the project's file; `null`: there is none"},
	{"setup_sha256", "text", "of its `setup`"},
	{"limits.requested", "object", "`cpu_millis`, `memory_mb`, `pids`, `disk_mb` as asked for; 0: no limit"},
	{"limits.effective", "object", "the same as they held, read back from the kernel"},
	{"limits.source", "object", "`cpu`, `memory`, `pids`, `disk`: whose value it is (`none`, `default`, `caller`, `spec`, `fleet`, `executor`, `project`)"},
	{"limits.clamps[].resource", "text", "a limit that a ceiling lowered"},
	{"limits.clamps[].requested", "number", "what was asked for"},
	{"limits.clamps[].effective", "number", "what the ceiling left of it"},
	{"limits.clamps[].source", "text", "whose ceiling: `fleet` (config.yaml), `executor`, `project`"},
	{"limits.unenforced[]", "texts", "limits of a ceiling that this executor cannot hold"},
	{"usage.wall_ms", "number", "from the release of the workload to its end"},
	{"usage.cpu_ms", "number", "processor time of the whole sandbox"},
	{"usage.memory_peak_bytes", "number", "most memory at once"},
	{"usage.disk_used_mb", "number", "of the workspace, as last measured"},
	{"usage.disk_state", "maybe text", "`ok`, or `unknown`: the measurement was not complete"},
	{"breach.used_bytes", "maybe number", "of a run that its disk limit ended: what was measured"},
	{"breach.limit_mb", "maybe number", "the limit"},
	{"breach.source", "maybe text", "whose: `spec`, `ceiling`"},
	{"breach.path", "maybe text", "the project"},
	{"breach.entries", "maybe number", "names, where those were too many"},
	{"breach.entries_limit", "maybe number", "how many there may be"},
	{"breach.measured_at", "maybe time", "when"},
	{"egress.session", "maybe text", "of a run with an egress grant: its session"},
	{"egress.grant", "maybe text", "the grant's ID"},
	{"egress.address", "maybe text", "where its proxy listens"},
	{"egress.port", "maybe number", "the same"},
	{"egress.bytes_up", "maybe number", "from the sandbox, through the proxy"},
	{"egress.bytes_down", "maybe number", "to the sandbox"},
	{"egress.reason", "maybe text", "why the session is closed; `null` while it is open"},
	{"log.bytes", "number", "of output in the log"},
	{"log.dropped_bytes", "number", "that the log's bound cut off, or could not be written"},
	{"log.last_seq", "number", "number of its last frame (`cloop logs --since-seq`)"},
	{"started_at", "time", "RFC 3339, UTC; when the workload was released"},
	{"finished_at", "time", "when it was known to have ended, or was refused"},
	{"warnings[].code", "text", "stable ([events.md](events.md))"},
	{"warnings[].message", "text", "for people"},
	{NULL, NULL, NULL},
};

static const char *const states[RUN_STATE_COUNT] = {
	[RUN_PENDING] = "being prepared, or waiting for free space",
	[RUN_RUNNING] = "the workload was released and its command executed",
	[RUN_EXITED] = "final: it ended by itself",
	[RUN_KILLED] = "final: cloop, the kernel or a signal ended it",
	[RUN_FAILED] = "final: it never started, or it is lost",
	[RUN_UNKNOWN] = "the engine does not answer; it is asked again",
};

static const struct {
	const char *exit, *meaning;
} outcomes[RUN_OUTCOME_COUNT] = {
	[OUTCOME_OK] = {"0", "ended with 0"},
	[OUTCOME_NONZERO] = {"its own", "ended with another status"},
	[OUTCOME_SIGNAL] = {"128+n", "a signal ended it"},
	[OUTCOME_TIMEOUT] = {"124", "its time was over"},
	[OUTCOME_OOM] = {"its own", "it ended other than with 0 after the kernel had killed for want of memory"},
	[OUTCOME_DISK_LIMIT] = {"122", "its workspace passed the limit"},
	[OUTCOME_REVOKED] = {"123", "a grant that it used was taken back"},
	[OUTCOME_CANCELLED] = {"its own, or 143", "somebody stopped it"},
	[OUTCOME_LOST] = {"125", "it is gone and nobody knows its status"},
	[OUTCOME_START_FAILED] = {"125, 126, 127", "it never started; `code` says why"},
};
// clang-format on

static void add_rows(struct str *out)
{
	str_add_text(out, "\n## Members\n\n| member | type | meaning |\n|---|---|---|\n");
	for (const struct record_page_row *r = record_page_rows; r->path; r++) {
		str_addf(out, "| `%s` | %s | ", r->path, r->type);
		markdown_cell(out, r->meaning);
		str_add_text(out, " |\n");
	}
}

void record_page(struct str *out)
{
	markdown_title(out, "The record of a run");
	str_add_text(out, intro);
	add_rows(out);
	str_add_text(out, "\n## States\n\n| state | meaning |\n|---|---|\n");
	for (enum run_state s = 0; s < RUN_STATE_COUNT; s++)
		str_addf(out, "| `%s` | %s |\n", run_state_text(s), states[s]);
	str_add_text(out, "\n## Outcomes\n\n| outcome | exit status of `cloop run` | meaning |\n"
			  "|---|---|---|\n");
	for (enum run_outcome o = 0; o < RUN_OUTCOME_COUNT; o++)
		str_addf(out, "| `%s` | %s | %s |\n", run_outcome_text(o), outcomes[o].exit,
			outcomes[o].meaning);
}
