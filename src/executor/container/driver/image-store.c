#include "executor/container/driver/image-store.h"

#include "base/json.h"

void stored_image_done(struct stored_image *i)
{
	json_decref(i->inspect);
	strv_done(&i->volumes);
}

static void read_volumes(const json_t *inspect, struct strv *ret)
{
	json_t *volumes = json_object_get(json_object_get(inspect, "Config"), "Volumes");
	const char *target;
	json_t *value;

	json_object_foreach(volumes, target, value) if (strv_add(ret, target) < 0) break;
}

int image_store_look_up(struct image_answers *answers, const char *reference,
	struct stored_image *ret, struct error *err)
{
	struct image_reference asked;

	if (image_reference_parse(text_of(reference), &asked, err) < 0)
		return -1;
	auto_json *inspect = image_answers_get(answers, &asked, err);
	if (!inspect)
		return -1;
	enum image_store store = image_answers_store(answers->runtime);
	int r = image_identity_choose(store, &asked, inspect, &ret->identity, err);
	if (r < 0)
		return -1;
	ret->inspect = json_incref(inspect);
	read_volumes(inspect, &ret->volumes);
	const char *user = json_get_string(json_object_get(inspect, "Config"), "User");
	ret->has_user = user && user[0];
	return r;
}
