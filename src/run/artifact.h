/*
 * The artifact of a task: .cloop/artifacts/ID-TITLE.md (sandbox-yaml "Reproducibility"): what ran,
 * as YAML front matter, and how it ended, for people. Pure.
 */
#pragma once

#include "base/strv.h"
#include "store/run.h"

enum { ARTIFACT_NAME_SIZE = 96, ARTIFACT_OUTPUT_MAX = 16 << 10, ARTIFACT_MAX = 1 << 20 };

struct artifact {
	int64_t id;
	struct text title;
	const char *status;      /* of the task */
	struct text note;        /* why; may be empty */
	const struct strv *argv; /* what was run; may be empty */
	const struct store_run *run;
	struct text output; /* the last of it, at most ARTIFACT_OUTPUT_MAX bytes */
	bool output_cut;    /* there was more before it */
};
/* "42-add-a-retry-to-the-upload-path.md" */
void artifact_name(int64_t id, struct text title, char out[ARTIFACT_NAME_SIZE]);
/* Whatever its texts hold, the front matter is YAML with these texts and the rest is one block. */
void artifact_write(const struct artifact *a, struct str *out);
