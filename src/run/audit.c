#include "run/audit.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "executor/rundir/home.h"
#include "image/verdict.h"
#include "store/audit.h"
#include "sys/file.h"
#include "sys/log.h"

enum { IMAGE_SHOWN_MAX = 512 };

static const char *string_or(const json_t *object, const char *key, const char *absent)
{
	const char *s = json_get_string(object, key);

	return s ? s : absent;
}

/*
 * As written, its first 512 bytes. Both files that can name an image are UTF-8 or refused, so the
 * details hold what was written, byte for byte; only a character that the cut parts is none.
 */
static json_t *shown_image(const json_t *denial)
{
	struct text image = json_get_text(denial, "image");
	size_t end = image.len < IMAGE_SHOWN_MAX ? image.len : IMAGE_SHOWN_MAX;
	size_t whole = utf8_cut(image, IMAGE_SHOWN_MAX);
	AUTO(str) shown = STR_INIT(IMAGE_SHOWN_MAX + 16);

	str_add(&shown, image.p, whole);
	for (size_t i = whole; i < end; i++)
		str_addf(&shown, "\\x%02x", (unsigned char)image.p[i]);
	return json_stringn(str_text(&shown), shown.len);
}

static bool is_denial(const struct error *refusal)
{
	const char *rule = json_get_string(refusal->details, "rule");

	for (int i = IMAGE_RULE_NONE + 1; rule && i < IMAGE_RULE_COUNT; i++)
		if (strcmp(rule, image_rule_text((enum image_rule)i)) == 0)
			return true;
	return false;
}

/* What follows "(rule: ID): " in the message; all of it where that is not there. */
static const char *reason_of(const struct error *refusal)
{
	auto_free char *mark =
		mem_printf("(rule: %s): ", json_get_string(refusal->details, "rule"));
	const char *found = strstr(refusal->message, mark);

	return found ? found + strlen(mark) : refusal->message;
}

static json_t *make_payload(
	const char *project_dir, const char *executor_id, const struct error *refusal)
{
	static const char *const members[] = {"rule", "detail", "origin", "registry", "repository"};
	const json_t *denial = refusal->details;
	auto_free char *project = file_resolve(project_dir);
	json_t *j = json_pack("{s:o}", "image", shown_image(denial));

	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		json_object_set_new(j, members[i], json_string(string_or(denial, members[i], "")));
	json_object_set_new(j, "reason", json_from_string(reason_of(refusal)));
	json_object_set_new(j, "project", json_from_string(project ? project : project_dir));
	json_object_set_new(j, "executor_id", json_from_string(executor_id ? executor_id : ""));
	return j;
}

static int append(const char *home_path, const json_t *payload, struct error *err)
{
	AUTO(home) home = HOME_INIT;
	AUTO_PTR(store) store = NULL;
	struct store_audit_event event = {
		.action = "sandbox.image_denied",
		.entity = "project",
		.actor = "system",
		.payload = payload,
	};

	if (home_open(home_path, &home, err) < 0 || store_open(home.path, &store, err) < 0)
		return -1;
	return store_audit_append(store, &event, err);
}

void audit_refusal(const char *home, const char *project_dir, const char *executor_id,
	const struct error *refusal)
{
	auto_error struct error err = ERROR_INIT;

	if (!is_denial(refusal))
		return;
	auto_json *payload = make_payload(project_dir, executor_id, refusal);
	if (append(home, payload, &err) < 0)
		log_warning("the refusal is not in the audit trail: %s", err.message);
}
