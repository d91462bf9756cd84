/*
 * libcloop: images of the engine's own store (image-trust.md §5). Nothing here pulls.
 * Seed: ImageIdentity, InspectImage.
 */
#pragma once

#include <cloop/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Repository of the images that are built for `setup:`; "localhost/" keeps podman from asking a
 * registry. Seed: DerivedImagePrefix.
 */
#define CLOOP_DERIVED_IMAGE_PREFIX "localhost/cloop-sandbox"
/* Labels of these images: their base, and the hash of their commands. Seed: the same names. */
#define CLOOP_LABEL_DERIVED_FROM "io.cloop.sandbox.base"
#define CLOOP_LABEL_SETUP_HASH "io.cloop.sandbox.setup"
/* The file that errors of a build name. Seed: FileNameHint. */
#define CLOOP_FILE_NAME_HINT ".cloop/sandbox.yaml"

/*
 * What a reference came to. Filled by the library, released by cloop_image_identity_free().
 * Seed: ImageIdentity.
 */
struct cloop_image_identity {
	const char *ref;         /* as it was asked for */
	const char *repo_digest; /* "repository@sha256:…"; "" = none (built or loaded here) */
	const char *id;          /* "sha256:…", of the content; always there */
};

/*
 * Asks the engine's store (at most 30 s). Errors: those of the reference (empty, not_ascii …),
 * runtime_unsupported, runtime_missing (the runtime's name or path is none), image_missing (the
 * remedy holds the pull command), engine_failed, engine_timeout. Seed: InspectImage.
 */
CLOOP_API CLOOP_MUST_CHECK int cloop_image_inspect(const struct cloop_runtime *runtime,
	const char *ref, struct cloop_image_identity **identity, struct cloop_error *err);
CLOOP_API void cloop_image_identity_free(struct cloop_image_identity *identity);
/*
 * The strongest reference that still says what the image is: the repository digest, else the
 * reference as given; never the bare id. The identity's own. Seed: ImageIdentity.Pinned.
 */
CLOOP_API const char *cloop_image_identity_pinned(const struct cloop_image_identity *identity);

/* An issuer and the subjects (a regular expression) whose keyless signatures count. */
struct cloop_image_signer {
	const char *issuer;
	const char *subject_regexp;
};

/*
 * What images a project may name (image-trust.md §3; sandbox.image_policy of config.yaml, whose
 * rules and error codes hold). All zero = anything. It does not govern the executor's own image
 * unless govern_operator_images is set. Lists end with NULL; NULL = empty.
 */
struct cloop_image_policy {
	const char *const *allowed_registries;
	const char *const *allowed_repos;
	bool require_digest;
	bool require_signature;
	const char *const *cosign_public_keys; /* absolute paths */
	const struct cloop_image_signer *cosign_identities;
	size_t n_cosign_identities;
	bool cosign_ignore_tlog;
	const char *default_registry; /* NULL = none */
	bool govern_operator_images;
	const char *const *insecure_registries;
	const void *reserved[4];
};

#ifdef __cplusplus
}
#endif
