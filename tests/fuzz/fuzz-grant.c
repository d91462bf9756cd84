/*
 * What a grant is made of (disk-and-secrets.md §14, §15). Each text is read as a subject, a
 * duration and as constraints of every kind: what is accepted is in its normal form and reads as
 * the same again.
 */
#include <assert.h>
#include <stdint.h>

#include "base/json.h"
#include "vault/grant-constraint.h"
#include "vault/subject.h"
#include "vault/ttl.h"
#include "json-mutate.h"

static void check_subject(struct text t)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(subject) first = {.text = NULL};
	AUTO(subject) second = {.text = NULL};

	if (subject_parse(t, &first, &err) < 0) {
		assert(error_is(&err, ERROR_GRANT_SUBJECT_INVALID));
		return;
	}
	int again = subject_parse(text_of(first.text), &second, &err);
	assert(again == 0 && strcmp(first.text, second.text) == 0 && first.kind == second.kind);
	struct subject_who itself = {
		.project = first.kind == SUBJECT_PROJECT ? first.id : TEXT("/p"),
		.executor = first.kind == SUBJECT_EXECUTOR ? first.id : TEXT("e"),
		.labels = first.labels,
		.n_labels = first.n_labels,
	};
	assert(subject_matches(&first, &itself) && subject_matches(&second, &itself));
	assert(subject_matches(&first, &(struct subject_who){.n_labels = 0}) ==
		(first.kind == SUBJECT_ANY));
}

static void check_ttl(struct text t)
{
	auto_error struct error err = ERROR_INIT;
	int64_t seconds;

	if (ttl_parse(t, &seconds, &err) == 0)
		assert(seconds >= TTL_LEAST && seconds <= TTL_LARGEST);
	else
		assert(error_is(&err, ERROR_TTL_INVALID) || error_is(&err, ERROR_TTL_OUT_OF_RANGE));
}

static void check_constraints(enum secret_kind kind, json_t *object)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(grant_constraints) first = {.writable = false};
	AUTO(grant_constraints) second = {.writable = false};

	if (grant_constraints_read(kind, object, &first, &err) < 0) {
		assert(json_object_get(err.details, "key"));
		return;
	}
	auto_json *written = grant_constraints_to_json(&first);
	int again = grant_constraints_read(kind, written, &second, &err);
	assert(again == 0);
	auto_free char *a = grant_constraints_summary(&first);
	auto_free char *b = grant_constraints_summary(&second);
	assert(strcmp(a, b) == 0 && *a);
	assert((json_object_size(written) == 0) == (strcmp(a, "none") == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_error struct error err = ERROR_INIT;
	struct text t = {(const char *)data, size};
	auto_json *object = json_read(t, size, "constraints", ERROR_USAGE, &err);
	json_t *inner = json_object_get(object, "constraints");

	check_subject(t);
	check_ttl(t);
	for (int kind = 0; object && kind < SECRET_KIND_COUNT; kind++) {
		check_constraints((enum secret_kind)kind, object);
		check_constraints((enum secret_kind)kind, inner);
	}
	return 0;
}
