/*
 * The kinds log_*, redact, classify, reap, adopt, revoke and attach_decode of container-driver.md
 * §11, §12, §13.2, §15.4, §16.2, §16.3, §18.3.
 */
#include "runner/case.h"

#include "base/enum-text.h"
#include "base/mem.h"
#include "base/num.h"
#include "executor/container/decisions/attach-frame.h"
#include "executor/container/decisions/classify.h"
#include "executor/container/decisions/lifecycle.h"
#include "executor/container/decisions/reap.h"
#include "executor/runlog/log-format.h"
#include "executor/runlog/log-json.h"
#include "executor/runlog/redact.h"

enum { ANY_SIZE = 1 << 28, REVOKE_FILES_MAX = 64, REVOKE_BINDINGS_MAX = 64 };

static void malformed(struct case_result *r)
{
	r->got = json_pack("{s:s}", "malformed_case", "this case does not fit its format");
	r->ok = false;
}

static void set_text(json_t *o, const char *key, const char *value)
{
	json_object_set_new(o, key, json_string(value));
}

static void set_int(json_t *o, const char *key, uint64_t value)
{
	json_object_set_new(o, key, json_integer((json_int_t)value));
}

static void set_bool(json_t *o, const char *key, bool value)
{
	json_object_set_new(o, key, json_boolean(value));
}

/* Hexadecimal text -> bytes; false on malformed input. */
static bool bytes_of_hex(struct text hex, struct str *out)
{
	char *room = str_reserve(out, hex.len / 2);

	if (!hex.p || !room || hex_decode(hex, room, hex.len / 2) < 0)
		return false;
	out->len += hex.len / 2;
	return true;
}

/* --- log --- */

static bool frame_of(json_t *j, struct log_frame *ret)
{
	int stream = log_stream_from_text(json_get_text(j, "stream"));
	struct text data = json_get_text(j, "data_b64");

	if (stream < 0 || !data.p)
		return false;
	*ret = (struct log_frame){
		.seq = (uint64_t)json_get_int(j, "seq", 0),
		.time_ns = json_get_int(j, "time_ns", 0),
		.stream = (enum log_stream)stream,
		.data = case_base64(data),
	};
	return true;
}

static json_t *frame_to_json(const struct log_frame *f)
{
	json_t *o = json_object();

	set_int(o, "seq", f->seq);
	set_int(o, "time_ns", (uint64_t)f->time_ns);
	set_text(o, "stream", log_stream_text(f->stream));
	json_object_set_new(o, "data_b64", case_to_base64(f->data));
	return o;
}

static bool encode_frame(json_t *j, struct str *out)
{
	char header[LOG_FRAME_SIZE];
	struct log_frame f;

	if (!frame_of(j, &f))
		return false;
	log_frame_encode(&f, &f.data, 1, header);
	str_add(out, header, sizeof(header));
	str_add(out, f.data.p, f.data.len);
	free((char *)(uintptr_t)f.data.p);
	return true;
}

static void run_log_encode(json_t *c, struct case_result *r)
{
	AUTO(str) out = STR_INIT(ANY_SIZE);
	struct log_header h = {
		.first_seq = (uint64_t)json_get_int(c, "first_seq", 0),
		.bytes_before = (uint64_t)json_get_int(c, "bytes_before", 0),
		.created_ns = json_get_int(c, "created_ns", 0),
	};
	char header[LOG_HEADER_SIZE];
	size_t i;
	json_t *frame;

	log_header_encode(&h, header);
	str_add(&out, header, sizeof(header));
	json_array_foreach(json_object_get(c, "frames"), i, frame)
	{
		if (!encode_frame(frame, &out)) {
			malformed(r);
			return;
		}
	}
	auto_free char *hex = mem_alloc(out.len * 2 + 1);
	hex_encode(str_text(&out), out.len, hex);
	r->got = json_string(hex);
	r->ok = json_equal(r->got, json_object_get(c, "expect_hex"));
}

static void run_log_decode(json_t *c, struct case_result *r)
{
	AUTO(str) bytes = STR_INIT(ANY_SIZE);
	struct log_header h;
	struct log_frame f;
	size_t size, offset = 0;

	if (!bytes_of_hex(json_get_text(c, "segment_hex"), &bytes)) {
		malformed(r);
		return;
	}
	json_t *o = json_object(), *frames = json_array();
	struct text segment = {str_text(&bytes), bytes.len};
	enum log_found found = log_header_decode(segment, &h);
	if (found == LOG_FOUND) {
		offset = LOG_HEADER_SIZE;
		for (uint64_t seq = h.first_seq;; seq++) {
			found = log_frame_decode(text_after(segment, offset), seq, &f, &size);
			if (found != LOG_FOUND)
				break;
			json_array_append_new(frames, frame_to_json(&f));
			offset += size;
		}
	}
	json_object_set_new(o, "frames", frames);
	set_int(o, "valid_bytes", offset);
	set_text(o, "tail", log_found_text(found));
	case_exact(r, c, o);
}

static void run_log_retention(json_t *c, struct case_result *r)
{
	json_t *list = json_object_get(c, "segments"), *j, *drop = json_array();
	size_t n = json_array_size(list), i;
	auto_free struct log_segment *segments = mem_alloc(n * sizeof(*segments));
	uint64_t dropped;

	json_array_foreach(list, i, j)
	{
		segments[i] = (struct log_segment){
			.first_seq = (uint64_t)json_get_int(j, "first_seq", 0),
			.payload_bytes = (uint64_t)json_get_int(j, "payload_bytes", 0),
			.file_bytes = (uint64_t)json_get_int(j, "file_bytes", 0),
		};
	}
	size_t gone =
		log_retention(segments, n, (uint64_t)json_get_int(c, "cap_bytes", 0), &dropped);
	for (i = 0; i < gone; i++)
		json_array_append_new(drop, json_integer((json_int_t)segments[i].first_seq));
	json_t *o = json_object();
	json_object_set_new(o, "drop", drop);
	set_int(o, "dropped_bytes", dropped);
	case_exact(r, c, o);
}

static void run_log_json(json_t *c, struct case_result *r)
{
	const char *handle = json_get_string(c, "handle");
	struct log_frame f;

	if (!handle || !frame_of(c, &f)) {
		malformed(r);
		return;
	}
	case_exact(r, c, log_json_frame(handle, &f));
	free((char *)(uintptr_t)f.data.p);
}

/* --- redact --- */

static bool add_secrets(struct redactor *redactor, json_t *list)
{
	size_t i;
	json_t *j;

	json_array_foreach(list, i, j)
	{
		auto_error struct error err = ERROR_INIT;
		struct text value = case_base64(json_text(j));
		int added = redactor_add(redactor, value, &err);
		free((char *)(uintptr_t)value.p);
		if (added < 0)
			return false;
	}
	return true;
}

static void run_redact(json_t *c, struct case_result *r)
{
	AUTO_PTR(redactor) redactor = redactor_new();
	AUTO(str) out = STR_INIT(ANY_SIZE), scratch = STR_INIT(ANY_SIZE);
	size_t i;
	json_t *j;

	if (!add_secrets(redactor, json_object_get(c, "secrets_b64"))) {
		malformed(r);
		return;
	}
	AUTO_PTR(redact_stream) s = redact_stream_new(redactor);
	json_array_foreach(json_object_get(c, "chunks_b64"), i, j)
	{
		struct text chunk = case_base64(json_text(j));
		struct text shown = redact_stream_write(s, chunk, &scratch);
		str_add(&out, shown.p, shown.len);
		free((char *)(uintptr_t)chunk.p);
	}
	r->got = json_object();
	json_object_set_new(r->got, "expect_stream_b64",
		case_to_base64((struct text){str_text(&out), out.len}));
	struct text shown = redact_stream_end(s, &scratch);
	str_add(&out, shown.p, shown.len);
	json_object_set_new(
		r->got, "expect_b64", case_to_base64((struct text){str_text(&out), out.len}));
	r->ok = json_equal(
			json_object_get(c, "expect_b64"), json_object_get(r->got, "expect_b64")) &&
		json_equal(json_object_get(c, "expect_stream_b64"),
			json_object_get(r->got, "expect_stream_b64"));
}

/* --- classify --- */

static bool sent(json_t *signals, const char *word)
{
	size_t i;
	json_t *j;

	json_array_foreach(signals, i, j)
	{
		if (text_is(json_text(j), word))
			return true;
	}
	return false;
}

static bool classify_input_of(json_t *j, struct classify_input *in)
{
	json_t *request = json_object_get(j, "request"), *signals = json_object_get(j, "signals");
	struct text start_error = json_get_text(j, "start_error");

	*in = CLASSIFY_INPUT_INIT;
	in->wait_status = json_get_int(j, "wait_status", -1);
	in->engine_knows = json_get_bool(j, "engine_knows", true);
	in->started = json_get_bool(j, "started", true);
	in->start_error = start_error.p ? error_code_from_text(start_error) : ERROR_NONE;
	in->exit_code = json_get_int(j, "exit_code", -1);
	in->confirmed = json_get_bool(j, "confirmed", true);
	in->oom_kills = json_get_int(j, "oom_kills", 0);
	in->interrupt_sent = sent(signals, "interrupt");
	in->terminate_sent = sent(signals, "terminate");
	if (!json_is_object(request))
		return true;
	int why = stop_why_from_text(json_get_text(request, "why"));
	if (why <= STOP_NONE)
		return false;
	in->request = (enum stop_why)why;
	in->delivered = json_get_bool(request, "delivered", false);
	return true;
}

static void run_classify(json_t *c, struct case_result *r)
{
	struct classify_input in;

	if (!classify_input_of(json_object_get(c, "input"), &in)) {
		malformed(r);
		return;
	}
	struct classify_result got = classify(&in);
	json_t *o = json_object(), *warnings = json_array();
	if (got.warning_oom_kill)
		json_array_append_new(warnings, json_string("oom_kill"));
	set_text(o, "state", run_state_text(got.state));
	set_text(o, "outcome", run_outcome_text(got.outcome));
	json_object_set_new(
		o, "exit_code", got.exit_code < 0 ? json_null() : json_integer(got.exit_code));
	json_object_set_new(o, "signal", got.signal == 0 ? json_null() : json_integer(got.signal));
	json_object_set_new(o, "warnings", warnings);
	set_int(o, "cli_exit", (uint64_t)got.cli_exit);
	case_exact(r, c, o);
}

/* --- reap --- */

static void run_reap(json_t *c, struct case_result *r)
{
	json_t *container = json_object_get(c, "container"), *me = json_object_get(c, "me");
	json_t *labels = json_object_get(container, "labels"), *run = json_object_get(c, "run");
	struct reap_input in = {
		.status = json_get_text(container, "status"),
		.managed = json_get_text(labels, "cloop.managed"),
		.home = json_get_text(labels, "cloop.home"),
		.executor = json_get_text(labels, "cloop.executor"),
		.handle = json_get_text(labels, "cloop.handle"),
		.created = json_get_text(container, "created"),
		.started = json_get_text(container, "started"),
		.my_executor = json_get_text(me, "executor"),
		.my_home = json_get_text(me, "home"),
		.run_known = json_is_object(run),
		.run_final = json_get_bool(run, "terminal", false),
		.shim_alive = json_get_bool(run, "shim_alive", false),
		.grace_seconds = json_get_int(c, "grace_seconds", 0),
	};

	if (!num_parse_rfc3339(json_get_text(c, "now"), &in.now_ns)) {
		malformed(r);
		return;
	}
	case_exact(r, c, json_string(reap_verdict_text(reap_decide(&in))));
}

/* --- lifecycle --- */

static void run_adopt(json_t *c, struct case_result *r)
{
	static const char *const states[] = {
		[ADOPT_RECORD_PENDING] = "pending",
		[ADOPT_RECORD_RUNNING] = "running",
		[ADOPT_RECORD_TERMINAL] = "terminal",
	};
	json_t *record = json_object_get(c, "record"), *container = json_object_get(c, "container");
	int state = enum_from_text(states, ARRAY_SIZE(states), json_get_text(record, "state"));
	struct adopt_input in = {
		.record = (enum adopt_record)state,
		.released = json_get_bool(record, "released", false),
		.shim_alive = json_get_bool(record, "shim_alive", false),
		.boot_id = json_get_text(record, "boot_id"),
		.boot_id_now = json_get_text(c, "boot_id_now"),
		.engine_down = text_is(json_text(container), "engine_down"),
		.container_found = json_is_object(container),
		.container_ours = json_get_bool(container, "handle_matches", false),
		.container_status = json_get_text(container, "status"),
	};

	if (state < 0) {
		malformed(r);
		return;
	}
	case_exact(r, c, json_string(adopt_verdict_text(adopt_decide(&in))));
}

static struct revoke_binding binding_of(json_t *j, struct text *files)
{
	json_t *names = json_object_get(j, "files"), *name;
	size_t i;

	json_array_foreach(names, i, name)
	{
		if (i < REVOKE_FILES_MAX)
			files[i] = json_text(name);
	}
	return (struct revoke_binding){
		.lease = json_get_text(j, "lease"),
		.grant = json_get_text(j, "grant"),
		.kind = json_get_text(j, "kind"),
		.files = files,
		.n_files = json_array_size(names) < REVOKE_FILES_MAX ? json_array_size(names)
								     : REVOKE_FILES_MAX,
		.dir = json_get_text(j, "dir"),
		.n_env_keys = json_array_size(json_object_get(j, "env_keys")),
	};
}

static json_t *plan_to_json(const struct revoke_plan *plan)
{
	json_t *o = json_object();

	set_bool(o, "held", plan->held);
	set_text(o, "effect", revoke_effect_text(plan->effect));
	json_object_set_new(o, "files", json_from_strings(plan->files.v, plan->files.n));
	set_bool(o, "sessions", plan->sessions);
	return o;
}

static void run_revoke(json_t *c, struct case_result *r)
{
	static struct text files[REVOKE_BINDINGS_MAX][REVOKE_FILES_MAX];
	auto_error struct error err = ERROR_INIT;
	AUTO(revoke_plan) plan = {0};
	struct revoke_binding bindings[REVOKE_BINDINGS_MAX];
	json_t *list = json_object_get(c, "bindings"), *ask = json_object_get(c, "request"), *j;
	struct revoke_request request = {
		.lease = json_get_text(ask, "lease"),
		.grant = json_get_text(ask, "grant"),
		.action = json_get_text(ask, "action"),
	};
	size_t n = 0, i;

	json_array_foreach(list, i, j)
	{
		if (n < REVOKE_BINDINGS_MAX) {
			bindings[n] = binding_of(j, files[n]);
			n++;
		}
	}
	bool stage_known = json_get_bool(c, "stage_known", true);
	if (revoke_decide(bindings, n, &request, stage_known, &plan, &err) < 0)
		case_exact(r, c, json_pack("{s:s}", "error", error_code_text(err.code)));
	else
		case_exact(r, c, plan_to_json(&plan));
}

/* --- attach --- */

static json_t *attach_to_json(const struct attach_frame *f)
{
	json_t *o = json_object();

	set_text(o, "type", attach_type_text(f->type));
	if (f->type == ATTACH_RESIZE) {
		set_int(o, "rows", f->rows);
		set_int(o, "cols", f->cols);
	} else if (f->data.len > 0) {
		json_object_set_new(o, "data_b64", case_to_base64(f->data));
	}
	return o;
}

static void run_attach_decode(json_t *c, struct case_result *r)
{
	static const char *const states[] = {
		[ATTACH_OK] = "ok", [ATTACH_MORE] = "more", [ATTACH_INVALID] = "error"};
	AUTO(str) bytes = STR_INIT(ANY_SIZE);
	struct attach_frame f;
	enum attach_state state;

	if (!bytes_of_hex(json_get_text(c, "hex"), &bytes)) {
		malformed(r);
		return;
	}
	struct text rest = {str_text(&bytes), bytes.len};
	json_t *o = json_object(), *frames = json_array();
	while ((state = attach_frame_decode(&rest, &f)) == ATTACH_FRAME)
		json_array_append_new(frames, attach_to_json(&f));
	json_object_set_new(o, "frames", frames);
	set_int(o, "rest", rest.len);
	set_text(o, "state", states[state]);
	case_exact(r, c, o);
}

#define FIELDS(...) ((const char *const[]){__VA_ARGS__, NULL})

const struct case_kind case_run_kinds[] = {
	{"log_encode", FIELDS("first_seq", "bytes_before", "created_ns", "frames", "expect_hex"),
		run_log_encode},
	{"log_decode", FIELDS("segment_hex"), run_log_decode},
	{"log_retention", FIELDS("segments", "cap_bytes"), run_log_retention},
	{"log_json", FIELDS("handle", "seq", "stream", "time_ns", "data_b64"), run_log_json},
	{"redact", FIELDS("secrets_b64", "chunks_b64", "expect_stream_b64", "expect_b64"),
		run_redact},
	{"classify", FIELDS("input"), run_classify},
	{"reap", FIELDS("container", "me", "run", "now", "grace_seconds"), run_reap},
	{"adopt", FIELDS("record", "container", "boot_id_now"), run_adopt},
	{"revoke", FIELDS("bindings", "request", "stage_known"), run_revoke},
	{"attach_decode", FIELDS("hex"), run_attach_decode},
	{0},
};
