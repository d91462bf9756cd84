/*
 * The final record of a run as the ledger takes it (ARCHITECTURE.md §6). The record is ours, but
 * another version of us may have written it, and a disk may have damaged it: a member that is not
 * of its form is left out, and without its handle, end or project there is no row. Pure.
 */
#pragma once

#include <jansson.h>

#include "executor/container/decisions/classify.h"
#include "store/run.h"

struct final_record {
	struct store_run row; /* borrows from the record and from `project` */
	char *project;        /* the resolved path, byte for byte */
	enum run_outcome outcome;
	const char *claim; /* of a task (store/task.h), or NULL; borrowed */
};
void final_record_done(struct final_record *f);

enum { FINAL_RECORD_NOT_FINAL = 1 };
/* 0, FINAL_RECORD_NOT_FINAL, or -1 = it is no record of this run. */
must_check int final_record_read(
	const char *handle, const json_t *record, struct final_record *ret, struct error *err);
