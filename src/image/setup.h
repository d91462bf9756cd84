/*
 * Images for `setup:` (image-trust.md §11): the key, the Dockerfile, the network of the build and
 * the engine's argv. Pure: who builds carries these out.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/strv.h"
#include "image/inspect.h"

#define SETUP_NAME "localhost/cloop-sandbox" /* tag: the key, or build-NONCE while it is built */
#define SETUP_LABEL_BASE "io.cloop.sandbox.base"
#define SETUP_LABEL_KEY "io.cloop.sandbox.setup"

enum { SETUP_COMMANDS_MAX = 32, SETUP_COMMAND_MAX = 4096, SETUP_ARGV_MAX = 128 };

/*
 * 0, or invalid_setup: no or more than 32 commands; one that is empty, longer than 4096 bytes, not
 * UTF-8, holds a control character but TAB, or begins with `--` (blanks at its ends aside).
 */
must_check int setup_check(const struct text *commands, size_t n, struct error *err);

/* What a derived image depends on. */
struct setup_facts {
	enum image_store engine;
	const char *base_id; /* sha256:… */
	const char *base;    /* struct image_identity: image */
	bool open_network;   /* class of the build's network: none or open */
	uint64_t cpu_millis; /* effective limits of the run; 0 = none */
	uint64_t memory_mb;
	const struct text *commands;
	size_t n_commands;
};
void setup_key(const struct setup_facts *f, char out[SHA256_HEX_SIZE]);

/* Appends the Dockerfile, ASCII. The commands must have passed setup_check(), which is done here.
 */
must_check int setup_dockerfile(
	const struct setup_facts *f, const char *key, struct str *out, struct error *err);

/* The network that a run has, as far as the build may have it. */
struct setup_network {
	enum image_store engine;
	const char *executor; /* none, bridge, or a network of the operator */
	bool disabled;        /* the spec switched it off */
	bool filtered;
	const char *egress_scope; /* "" = none */
	bool egress_session;
};
/* What --network of the build says: "none", or the executor's in the words of the engine. */
const char *setup_network_of(const struct setup_network *n);

struct setup_build {
	enum image_store engine;
	const char *program; /* argv[0] */
	const char *nonce;   /* 16 hexadecimal digits */
	const char *iidfile;
	const char *network;
	uint64_t cpu_millis, memory_mb;
	const struct strv *ulimits; /* NAME=SOFT:HARD; may be NULL */
	const char *context;        /* an empty directory */
};
/* ret: STRV_INIT(SETUP_ARGV_MAX). */
void setup_build_argv(const struct setup_build *b, struct strv *ret);
