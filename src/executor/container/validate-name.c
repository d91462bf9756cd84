/* Names, users and host entries: container-driver.md §5.1, §5.2, §5.6, §5.7, §5.9, §5.10. */
#include "executor/container/validate.h"

#include "base/num.h"
#include "executor/container/hosts.h"

enum {
	EXECUTOR_ID_MAX = 64,
	HANDLE_DIGITS = 12,
	CONTAINER_NAME_MAX = 63,
	LABEL_KEY_MAX = 128,
	ENV_NAME_MAX = 256,
	ID_LARGEST = 2147483647,
};

int validate_executor_id(struct text t, struct error *err)
{
	if (t.len >= 1 && t.len <= EXECUTOR_ID_MAX && ascii_alnum(t.p[0]) &&
		text_all_word(t, "._-"))
		return 0;
	return error_set(err, ERROR_EXECUTOR_ID_INVALID, "%s is not an executor id", quoted(t));
}

int validate_handle(struct text t, struct error *err)
{
	if (text_starts(t, "c-") && text_is_hex(text_after(t, 2), HANDLE_DIGITS))
		return 0;
	return error_set(err, ERROR_HANDLE_INVALID, "%s is not a handle", quoted(t));
}

int validate_container_name(struct text t, struct error *err)
{
	if (t.len == 0)
		return error_set(err, ERROR_CONTAINER_NAME_EMPTY, "the container name is empty");
	if (t.len > CONTAINER_NAME_MAX)
		return error_set(err, ERROR_CONTAINER_NAME_TOO_LONG,
			"container name %s is longer than %d bytes", quoted(t), CONTAINER_NAME_MAX);
	if (!ascii_alnum(t.p[0]) || !text_all_word(t, "_.-"))
		return error_set(
			err, ERROR_CONTAINER_NAME_INVALID, "%s is not a container name", quoted(t));
	return 0;
}

int validate_label_key(struct text t, struct error *err)
{
	if (t.len >= 1 && t.len <= LABEL_KEY_MAX && t.p[0] != '-' && text_all_word(t, "._/-"))
		return 0;
	return error_set(err, ERROR_LABEL_KEY_INVALID, "%s is not a label key", quoted(t));
}

int validate_env_name(struct text t, struct error *err)
{
	if (t.len == 0)
		return error_set(
			err, ERROR_ENV_NAME_EMPTY, "the name of an environment variable is empty");
	if (t.len > ENV_NAME_MAX)
		return error_set(err, ERROR_ENV_NAME_TOO_LONG,
			"environment variable %s: the name is longer than %d bytes", quoted(t),
			ENV_NAME_MAX);
	if (ascii_digit(t.p[0]) || !text_all_word(t, "_"))
		return error_set(err, ERROR_ENV_NAME_INVALID,
			"%s is not the name of an environment variable", quoted(t));
	return 0;
}

static bool is_decimal(enum num_result r)
{
	return r == NUM_OK || r == NUM_TOO_LARGE;
}

/* A user without `:`: always refused, in words for what was probably meant. */
static int refuse_lone_user(struct text t, struct error *err)
{
	uint64_t uid;

	if (!is_decimal(num_parse(t, ID_LARGEST, &uid)))
		return error_set(err, ERROR_USER_NOT_NUMERIC, "user %s is not numeric", quoted(t));
	if (uid == 0)
		return error_set(err, ERROR_ROOT_USER, "user %s is root", quoted(t));
	return error_set(err, ERROR_USER_GID_MISSING, "user %s has no group", quoted(t));
}

int validate_user(struct text t, struct error *err)
{
	struct text gid_text = t, uid_text;
	uint64_t uid, gid;

	if (text_blank(t))
		return error_set(err, ERROR_USER_MISSING, "no user is given");
	text_split(&gid_text, ':', &uid_text);
	if (!gid_text.p)
		return refuse_lone_user(t, err);
	enum num_result u = num_parse(uid_text, ID_LARGEST, &uid),
			g = num_parse(gid_text, ID_LARGEST, &gid);
	if (!is_decimal(u) || !is_decimal(g))
		return error_set(err, ERROR_USER_NOT_NUMERIC, "user %s is not numeric", quoted(t));
	if (u == NUM_TOO_LARGE || g == NUM_TOO_LARGE)
		return error_set(err, ERROR_USER_OUT_OF_RANGE, "user %s: a number is above %d",
			quoted(t), ID_LARGEST);
	if (uid == 0 || gid == 0)
		return error_set(
			err, ERROR_ROOT_USER, "user %s is root or in root's group", quoted(t));
	return 0;
}

int validate_add_host(struct text t, struct error *err)
{
	struct hosts_entry ignored;

	return hosts_entry_parse(t, &ignored, err);
}
