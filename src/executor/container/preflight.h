/*
 * Preflight of a container executor (container-driver.md §19.1): facts about the host become
 * findings. Pure; whoever asks the engine fills the facts. A failed check is a finding, not an
 * error.
 */
#pragma once

#include "image/verdict.h"
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/json.h"
#include "executor/container/runtime.h"
#include "net/egress-filter.h"

enum preflight_level { PREFLIGHT_OK, PREFLIGHT_WARN, PREFLIGHT_FAIL, PREFLIGHT_LEVEL_COUNT };
const char *preflight_level_text(enum preflight_level l);
int preflight_level_from_text(struct text t);

enum preflight_guest { GUEST_OK, GUEST_MISSING, GUEST_NOEXEC };
enum preflight_kvm { KVM_OK, KVM_ABSENT, KVM_DENIED };
enum preflight_registered { REGISTERED_UNKNOWN, REGISTERED_YES, REGISTERED_NO };

struct preflight_work_dir {
	bool given;
	struct text path;
	bool is_dir;
	bool refused; /* §5.15 */
	uid_t owner_uid;
	bool writable_by_owner; /* judged for the sandbox's uid, not ours */
};

/* Texts are borrowed; an empty one is left out of the messages or means "not set". */
struct preflight_facts {
	enum engine engine;
	bool rootless;
	struct text path;    /* of the client */
	struct text version; /* its answer to --version */
	int version_rc;      /* 0, else it cannot run or failed */
	bool masquerade;     /* podman under docker's name */
	bool runc_link_bug;  /* preflight_runc_link_bug() */
	bool images_pinned;
	int info_rc;
	struct text info_words; /* what a failed `info` said, quoted */
	bool docker_rootless, docker_userns, remote;
	bool subids;
	bool runroot_tmpfs;
	int cgroup_version;
	bool delegated; /* cpu, memory and pids, all of them */
	enum preflight_guest guest;
	struct text oci_runtime;
	enum preflight_registered registered;
	enum preflight_kvm kvm;
	bool network_none;
	const struct egress_filter *filter; /* the operator's; NULL: no rows about it */
	bool nft;                           /* usable */
	bool tun;                           /* /dev/net/tun can be opened */
	bool egress_enabled;                /* executors.egress.enabled */
	bool egress_program;                /* cloop-egress is installed */
	const char *egress_no_route;        /* why there is none to the proxy; NULL: there is */
	bool filter_ready;
	bool devices_granted;
	struct text image;
	enum image_origin image_origin; /* the operator's, or one of cloop's own */
	bool image_present;
	bool selinux_enforcing;
	bool selinux_labelled; /* option selinux_label is set */
	uid_t euid;
	bool allow_root_user;
	struct preflight_work_dir work_dir;
};

struct preflight_finding {
	const char *name; /* static */
	enum preflight_level level;
	char *message; /* owned */
	char *fix;     /* owned; "" when there is nothing to mend */
};
struct preflight_report {
	struct preflight_finding *v;
	size_t n;
};
void preflight_report_done(struct preflight_report *r);
/* Appends; also for whoever has findings of another area (network.md §16). */
void preflight_report_add(struct preflight_report *r, const char *name, enum preflight_level level,
	const char *fix, const char *fmt, ...) printf_like(5, 6);

/* The findings in their order. *ret must be empty. */
void preflight_judge(const struct preflight_facts *facts, struct preflight_report *ret);
/* [{name, level, message, fix}] */
must_check json_t *preflight_report_to_json(const struct preflight_report *r);
/* No finding fails. */
bool preflight_ok(const struct preflight_report *r);
/* 0, or executor_unavailable with the failed ones: `name: message (fix: …)`, joined by `; `. */
must_check int preflight_err(const struct preflight_report *r, struct error *err);
/* `runc --version` names one before 1.3.6, where a link in an image's /dev reaches host paths. */
bool preflight_runc_link_bug(struct text version);
