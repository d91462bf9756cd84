/*
 * Who a grant is for (disk-and-secrets.md §14). Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/text.h"

enum { SUBJECT_LABELS_MAX = 16 };

enum subject_kind {
	SUBJECT_ANY,
	SUBJECT_PROJECT,     /* project:/PATH */
	SUBJECT_PROJECT_ANY, /* project:* */
	SUBJECT_EXECUTOR,    /* executor:ID */
	SUBJECT_EXECUTOR_ANY,
	SUBJECT_LABEL, /* label:k=v,… */
};

struct subject_label {
	struct text key, value;
};

/* Views into the subject's own text. */
struct subject {
	char *text; /* the normal form: what is stored, shown and parsed again; owned */
	enum subject_kind kind;
	struct text id; /* the clean path, or the executor's ID */
	struct subject_label labels[SUBJECT_LABELS_MAX];
	size_t n_labels;
};
void subject_done(struct subject *s);

/*
 * Reads a subject of any length; paths are cleaned, nothing else is changed. -1:
 * grant_subject_invalid, *ret is not written. *ret is the caller's (subject_done).
 */
must_check int subject_parse(struct text t, struct subject *ret, struct error *err);

/* A run as subjects see it; p = NULL: it has none. */
struct subject_who {
	struct text project; /* resolved path */
	struct text executor;
	const struct subject_label *labels;
	size_t n_labels;
};
bool subject_matches(const struct subject *s, const struct subject_who *who);
/* `any` or a `*`: nobody in particular; a personal secret is not granted to it (§12). */
bool subject_is_wide(const struct subject *s);
