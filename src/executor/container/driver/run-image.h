/*
 * From an allowed reference to the image that runs (image-trust.md §4, steps 2-5): the pin in the
 * engine's store, and what the image has to pass before a container of it may exist.
 */
#pragma once

#include "executor/container/driver/driver.h"
#include "executor/container/driver/image-store.h"

enum { DERIVED_NETWORK_SIZE = 130 };

/* The image made for `setup:` (§11). */
struct run_build {
	char key[65]; /* "" = the run has no setup */
	char network[DERIVED_NETWORK_SIZE];
	bool without_network; /* although the run has one */
	bool needed;          /* no image of that key is there (look_only) */
};

/* Stands for the ID of an image that is not built yet. */
#define RUN_IMAGE_UNKNOWN "sha256:0000000000000000000000000000000000000000000000000000000000000000"

struct run_image {
	struct stored_image stored; /* the image that was judged */
	/* What argv carries: name@digest, or an ID; never a tag. */
	char run[IMAGE_TEXT_MAX + 1];
	char id[IMAGE_DIGEST_MAX + 1]; /* of what runs */
	bool not_pinned;               /* although the policy restricts something */
	/* Of one of cloop's own images (§9): image_unsigned, image_unchecked, or NULL. */
	const char *provenance_warning;
	char provenance_reason[ERROR_TEXT_MAX + 1];
	struct run_build build;
};
#define RUN_IMAGE_INIT ((struct run_image){.stored = STORED_IMAGE_INIT})
void run_image_done(struct run_image *i);

struct run_image_question {
	const struct container_driver *driver;
	const struct executor_start *start;
	const struct strv *env;              /* client_environment() */
	const char *home;                    /* cloop's */
	const struct image_verdict *verdict; /* allowed */
	const struct argv_line *line;        /* of the run, for any image: what it asks for */
	bool look_only;                      /* nothing is built */
};
/* Errors: of the store's look-up, sandbox_image_denied, and those of each step. */
must_check int run_image_settle(
	const struct run_image_question *q, struct run_image *ret, struct error *err);

/* What is to be said of it, into the object's list `warnings`. */
void run_image_warn(const struct run_image *i, json_t *object);
/* Members image, image_digest, image_id, reproducible and warnings of a run's record (§12). */
void run_image_record(const struct run_image *i, json_t *record);
