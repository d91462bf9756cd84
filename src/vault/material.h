/*
 * What one run gets from its lease (disk-and-secrets.md §16, §17): made by the vault before
 * anything of the run exists, carried to its supervisor by the driver, never written to a file.
 * Values lie in `struct secret`s, which are wiped; everything else may be shown.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/secret.h"
#include "base/strv.h"
#include "vault/secret-kind.h"

enum {
	LEASE_ID_SIZE = 31,          /* "lease_" + 24 hexadecimal digits + NUL */
	GRANT_ID_SIZE = 32,          /* "egress_" + 24, the longest */
	SECRET_ID_SIZE = 29,         /* "sec_" + 24 */
	MATERIAL_FILES_MAX = 256,    /* staged for one run */
	MATERIAL_ENV_MAX = 512,      /* variables */
	MATERIAL_DEVICES_MAX = 16,   /* container-driver.md §5.11 */
	MATERIAL_INTERFACES_MAX = 8, /* §5.12 */
	MATERIAL_REPOS_MAX = 32,     /* disk-and-secrets.md §16.3 */
	MATERIAL_BINDINGS_MAX = 256, /* grants of one lease */
};

/* A file of the lease directory. */
struct material_file {
	char *name;
	mode_t mode; /* 0400, 0500, 0600, 0700 */
	struct secret content;
};

/* A variable. */
struct material_variable {
	char *name;
	struct secret value;
	bool sensitive; /* masked in the output; CLOOP_LEASE_DIR and its like are not */
};

struct material_device {
	char *name;
	char *source; /* resolved, below /dev */
	char *target; /* inside */
	char *mode;   /* "r", "rw", "rwm": delivered */
	bool block;   /* type and number of the node as the lease saw it: §17.1 compares */
	dev_t rdev;
};

struct material_interface {
	char *name, *source, *target; /* target = source when not renamed */
	char *address, *gateway;      /* NULL = none */
	int64_t mtu;                  /* 0 = as it is */
};

struct material_repo {
	char *name;
	char *source; /* resolved; mounted at /repos/NAME */
	bool writable;
};

/* What one grant brought: what a revocation of it has to reach (container-driver.md §15.4). */
struct material_binding {
	char grant[GRANT_ID_SIZE];
	enum secret_kind kind;
	struct strv files;    /* names in the lease directory */
	struct strv env_keys; /* variables that hold a value of the secret; not …_FILE_… paths */
};

struct egress_session; /* egress/session.h */

struct material {
	char lease[LEASE_ID_SIZE];    /* "" = nothing was granted: no lease */
	char dir[64];                 /* inside: /run/cloop/cloop-lease-<24 hex>; "" = no files */
	int64_t expires_at, hard_end; /* seconds since 1970; hard_end 0 = none */
	bool lasting; /* of somebody else's keeping: it has no end but the run's, or a revocation */
	struct material_file *files;
	size_t n_files;
	struct material_variable *variables;
	size_t n_variables;
	struct material_device *devices;
	size_t n_devices;
	struct material_interface *interfaces;
	size_t n_interfaces;
	struct material_repo *repos;
	size_t n_repos;
	struct material_binding *bindings;
	size_t n_bindings;
	/* The session of the run under an egress grant; borrowed. NULL = it has none. */
	struct egress_session *egress;
};
#define MATERIAL_INIT ((struct material){.lease = ""})
/* Wipes and frees everything; m is MATERIAL_INIT afterwards. */
void material_done(struct material *m);

/* Each adds one and takes what is passed (the strings, the secret); -1: the list is full. */
must_check int material_add_file(
	struct material *m, const char *name, mode_t mode, struct secret *content);
must_check int material_add_variable(
	struct material *m, const char *name, struct secret *value, bool sensitive);
must_check int material_add_device(struct material *m, struct material_device *device);
must_check int material_add_interface(struct material *m, struct material_interface *interface);
must_check int material_add_repo(struct material *m, struct material_repo *repo);
/* The binding of a grant, made when it is new; NULL: the list is full. */
must_check struct material_binding *material_binding_of(
	struct material *m, const char *grant, enum secret_kind kind);
