/*
 * libcloop: errors (architecture §7, container-driver.md §21). An error has a code, which is stable
 * text ("image_missing"), a message that says what was being done to what, and a remedy apart.
 * Messages never hold a value of a variable, a file's content or a token.
 */
#pragma once

#include <cloop/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Owned by its caller, filled by any function that fails; filling it again drops what was there. */
struct cloop_error;

/*
 * Codes that programs most often ask for; all others stand in the reference of error codes and are
 * asked for by their text. Seed: ErrNoRuntime is CLOOP_ERR_RUNTIME_MISSING.
 */
#define CLOOP_ERR_RUNTIME_MISSING "runtime_missing"
#define CLOOP_ERR_RUNTIME_UNSAFE "runtime_unsafe"
#define CLOOP_ERR_RUNTIME_UNSUPPORTED "runtime_unsupported"
#define CLOOP_ERR_HANDLE_NOT_FOUND "handle_not_found"
#define CLOOP_ERR_HANDLE_INVALID "handle_invalid"
#define CLOOP_ERR_IMAGE_MISSING "image_missing"
#define CLOOP_ERR_ENGINE_FAILED "engine_failed"
#define CLOOP_ERR_ENGINE_TIMEOUT "engine_timeout"
#define CLOOP_ERR_ROOT_USER "root_user"
#define CLOOP_ERR_START_CANCELLED "start_cancelled"
#define CLOOP_ERR_CANCELLED "cancelled"
#define CLOOP_ERR_ATTACH_CLOSED "attach_closed"
#define CLOOP_ERR_ATTACH_BUSY "attach_busy"
#define CLOOP_ERR_EXECUTOR_UNAVAILABLE "executor_unavailable"
#define CLOOP_ERR_USAGE "usage"

/* A new, empty error; memory is the only thing that could be missing, and then the process ends. */
CLOOP_API CLOOP_MUST_CHECK struct cloop_error *cloop_error_new(void);
CLOOP_API void cloop_error_free(struct cloop_error *err);
/* Forgets what is in it. */
CLOOP_API void cloop_error_clear(struct cloop_error *err);

/* It has this code (a CLOOP_ERR_… or any other text). False for NULL and for an empty error. */
CLOOP_API bool cloop_error_is(const struct cloop_error *err, const char *code);
/* The code, "" = empty or NULL. Valid as long as the program runs. */
CLOOP_API const char *cloop_error_code(const struct cloop_error *err);
/* At most 1,024 bytes, lower case, without a full stop; "" = empty. Valid until err changes. */
CLOOP_API const char *cloop_error_message(const struct cloop_error *err);
/* What to do about it, at most 1,024 bytes; "" = nothing is known. Valid until err changes. */
CLOOP_API const char *cloop_error_remediation(const struct cloop_error *err);
/* HTTP status that belongs to the code (400, 404, 409, 429, 500 …); 0 = empty. */
CLOOP_API int cloop_error_http_status(const struct cloop_error *err);
/*
 * The whole error as one JSON object: {"error","code","status","remediation", details…}, where the
 * details are those of the code (constraint, alternatives, names …). Released by
 * cloop_string_free(); "{}" for an empty one.
 */
CLOOP_API CLOOP_MUST_CHECK char *cloop_error_json(const struct cloop_error *err);

#ifdef __cplusplus
}
#endif
