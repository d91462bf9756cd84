/*
 * Operations of an executor (executor.h) on runs that are kept in run directories by a supervisor
 * with a control socket: the same for every driver that works like this.
 */
#pragma once

#include "executor/executor.h"

must_check int rundir_ops_signal(const struct executor *e, const char *home, const char *handle,
	enum executor_signal signal, struct error *err);
must_check int rundir_ops_stop(const struct executor *e, const char *home, const char *handle,
	const struct executor_stop *how, struct error *err);
must_check int rundir_ops_status(const struct executor *e, const char *home, const char *handle,
	json_t **ret, struct error *err);
/* Runs whose record names this executor. */
must_check int rundir_ops_handles(
	const struct executor *e, const char *home, struct strv *ret, struct error *err);
