/*
 * The text rules of container-driver.md §5. Every function is pure, judges text of any length and
 * bytes, answers 0, or -1 with the code of its paragraph. Nothing is trimmed unless said.
 */
#pragma once

#include "base/error.h"
#include "base/text.h"
#include "executor/container/request.h"
#include "executor/container/runtime.h"

must_check int validate_executor_id(struct text t, struct error *err);    /* §5.1 */
must_check int validate_handle(struct text t, struct error *err);         /* §5.1 */
must_check int validate_container_name(struct text t, struct error *err); /* §5.2 */
must_check int validate_runtime(struct text t, struct error *err);        /* §5.3 */
must_check int validate_oci_runtime(struct text t, struct error *err);    /* §5.4 */
must_check int validate_network(struct text t, struct error *err);        /* §5.5 */
must_check int validate_user(struct text t, struct error *err);           /* §5.6 */
must_check int validate_add_host(struct text t, struct error *err);       /* §5.7 */
/* engine: whose engine-specific flags are fine; -1 = not known yet, both are. */
must_check int validate_extra_args(
	const struct text *args, size_t n, int engine, struct error *err);         /* §5.8 */
must_check int validate_label_key(struct text t, struct error *err);               /* §5.9 */
must_check int validate_env_name(struct text t, struct error *err);                /* §5.10 */
must_check int validate_device(const struct request_device *d, struct error *err); /* §5.11 */
must_check int validate_devices(const struct request_device *d, size_t n, struct error *err);
must_check int validate_interface(const struct request_interface *i, struct error *err); /* §5.12 */
must_check int validate_interfaces(const struct request_interface *i, size_t n, struct error *err);
must_check int validate_mount_target(
	struct text t, bool protect_project_files, struct error *err); /* §5.14 */
/* user_home and cloop_home may be empty. */
must_check int validate_work_dir(struct text t, struct text user_home, struct text cloop_home,
	struct error *err); /* §5.15 */

struct secret_file {
	struct text dir, name;
	uint64_t size;
	struct text mode; /* octal; empty = 0600 */
};
must_check int validate_secret_files(
	const struct secret_file *f, size_t n, struct error *err); /* §5.13 */

/* Class of a low-level runtime by its name (§5.4; sandbox-spec.md §11); trims, ignores case. */
struct oci_class {
	bool virtualized;
	bool gvisor;
};
struct oci_class oci_class_of(struct text name);
static inline bool oci_class_kernel_isolated(struct oci_class c)
{
	return c.virtualized || c.gvisor;
}

/* Rendering of §5.9: key of a run label, label value, container name (out: 64 bytes). */
void label_segment(struct str *out, struct text key);
void label_value(struct str *out, struct text value);
void container_name(struct text work_dir, struct text run_id, char out[64]);
