#include "run/task-artifact.h"

#include "base/json.h"
#include "base/mem.h"
#include "executor/runlog/log-reader.h"
#include "run/artifact.h"
#include "run/project-file.h"
#include "store/journal.h"
#include "store/task.h"
#include "sys/log.h"

enum { FRAMES_MAX = 512, ARGV_MAX = 1024 };

/* What of the task's row goes into the artifact. */
struct facts {
	enum store_task_state state;
	char *title, *note, *run;
	struct strv argv;
};

static void facts_done(struct facts *f)
{
	free(f->title);
	free(f->note);
	free(f->run);
	strv_done(&f->argv);
}

static char *copy(struct text t)
{
	return t.p ? mem_strndup(t.p, t.len) : NULL;
}

static void keep(void *data, const struct store_task *t)
{
	struct facts *f = data;

	f->state = t->state;
	f->title = copy(t->title);
	f->note = copy(t->note);
	f->run = copy(t->run);
}

/* The words of the run itself: `run --task` may have given others than the task's. */
static void read_argv(const struct rundir *run, struct strv *ret)
{
	auto_error struct error ignored = ERROR_INIT;
	auto_json *request = rundir_read(run, "request.json", &ignored);
	const json_t *command = json_object_get(request, "command");

	if (json_is_array(command))
		(void)!json_exact_list_bytes(command, ret);
}

/* The last bytes of the output, stdout and stderr as they came. */
struct tail {
	struct str bytes; /* up to twice the maximum */
	bool cut;
};

static void tail_shorten(struct tail *t)
{
	size_t over = t->bytes.len > ARTIFACT_OUTPUT_MAX ? t->bytes.len - ARTIFACT_OUTPUT_MAX : 0;

	if (over == 0)
		return;
	memmove(t->bytes.data, t->bytes.data + over, ARTIFACT_OUTPUT_MAX);
	t->bytes.len = ARTIFACT_OUTPUT_MAX;
	t->bytes.data[t->bytes.len] = '\0';
	t->cut = true;
}

static void tail_add(struct tail *t, struct text data)
{
	if (data.len > ARTIFACT_OUTPUT_MAX) {
		data = text_after(data, data.len - ARTIFACT_OUTPUT_MAX);
		t->cut = true;
	}
	str_add(&t->bytes, data.p, data.len);
	tail_shorten(t);
}

static void read_tail(const struct rundir *run, const json_t *record, struct tail *ret)
{
	auto_error struct error ignored = ERROR_INIT;
	AUTO_PTR(log_reader) reader = NULL;
	struct log_frame frame;
	int64_t last = json_get_int(json_object_get(record, "log"), "last_seq", 0);
	uint64_t since = last > FRAMES_MAX ? (uint64_t)(last - FRAMES_MAX) : 0;

	ret->cut = since > 0;
	if (log_reader_open(run->fd, since, &reader, &ignored) != 0)
		return;
	while (log_reader_next(reader, &frame, &ignored) == LOG_READ_FRAME)
		if (frame.stream == LOG_STDOUT || frame.stream == LOG_STDERR ||
			frame.stream == LOG_COMBINED)
			tail_add(ret, frame.data);
}

static int write_file(const struct final_record *f, const struct artifact *a, struct error *err)
{
	AUTO(str) text = STR_INIT(ARTIFACT_MAX);
	char name[ARTIFACT_NAME_SIZE];
	struct project_file file = {f->project, "artifacts", name, true};

	artifact_name(a->id, a->title, name);
	artifact_write(a, &text);
	return project_file_write(&file, (struct text){str_text(&text), text.len}, err);
}

static void tell(struct store *s, const struct final_record *f, const char *handle,
	const struct error *failure)
{
	auto_error struct error err = ERROR_INIT;
	auto_free char *message = mem_printf("the artifact is not written: %s", failure->message);
	struct store_event event = {f->project, "artifact", handle, f->row.task, message, 0};

	log_warning("task %lld: %s", (long long)f->row.task, message);
	if (store_journal_add(s, &event, &err) < 0)
		log_warning("%s", err.message);
}

void task_artifact_write(struct store *s, const struct rundir *run, const json_t *record,
	const struct final_record *f)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(facts) facts = {.argv = STRV_INIT(ARGV_MAX)};
	struct tail tail = {.bytes = STR_INIT(2 * ARTIFACT_OUTPUT_MAX)};

	if (store_task_show(s, f->project, f->row.task, keep, &facts, &err) != 0 ||
		facts.state == STORE_TASK_RUNNING || !facts.run ||
		strcmp(facts.run, run->handle) != 0)
		return;
	read_argv(run, &facts.argv);
	read_tail(run, record, &tail);
	struct artifact a = {
		.id = f->row.task,
		.title = text_of(facts.title),
		.status = store_task_state_text(facts.state),
		.note = text_of(facts.note),
		.argv = &facts.argv,
		.run = &f->row,
		.output = {str_text(&tail.bytes), tail.bytes.len},
		.output_cut = tail.cut,
	};
	if (write_file(f, &a, &err) < 0)
		tell(s, f, run->handle, &err);
	str_done(&tail.bytes);
}
