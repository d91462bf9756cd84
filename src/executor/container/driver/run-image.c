#include "executor/container/driver/run-image.h"

#include <assert.h>
#include <string.h>

#include "base/json.h"
#include "executor/container/driver/derived-image.h"
#include "executor/container/driver/image-harness.h"
#include "executor/container/driver/image-signature.h"
#include "executor/rundir/record.h"
#include "image/missing.h"

void run_image_done(struct run_image *i)
{
	stored_image_done(&i->stored);
}

/* What was pinned is what was judged. */
static void check_pin(const struct run_image_question *q, const struct run_image *i)
{
	struct image_verdict again;

	if (!i->stored.identity.reproducible)
		return;
	image_verdict(q->driver->settings.policy, q->start->image_origin,
		text_of(i->stored.identity.run), &again);
	assert(again.allowed);
}

/* Nobody who only sees a project knows that its image comes from the configuration. */
static int explain_missing(const struct run_image_question *q, struct error *err)
{
	if (!error_is(err, ERROR_IMAGE_MISSING) || q->start->image_origin == IMAGE_ORIGIN_PROJECT)
		return -1;
	auto_free char *remedy = image_missing_remedy(engine_text(q->driver->runtime.engine),
		text_of(q->verdict->run_as), q->start->image_origin);
	return error_set_remedy(err, "%s", remedy);
}

int run_image_settle(const struct run_image_question *q, struct run_image *ret, struct error *err)
{
	AUTO(image_answers)
	answers = {.runtime = &q->driver->runtime,
		.env = q->env,
		.home = q->home,
		.cancel_fd = q->start->cancel_fd};

	if (image_store_look_up(&answers, q->verdict->run_as, &ret->stored, err) < 0)
		return explain_missing(q, err);
	if (image_signature_settle(q, ret, err) < 0)
		return -1;
	check_pin(q, ret);
	if (image_harness_pass(&ret->stored, q->start->harnesses, err) < 0)
		return -1;
	memcpy(ret->run, ret->stored.identity.run, sizeof(ret->run));
	memcpy(ret->id, ret->stored.identity.id, sizeof(ret->id));
	return derived_image_settle(q, &answers, ret, err);
}

void run_image_warn(const struct run_image *i, json_t *record)
{
	const struct image_identity *image = &i->stored.identity;

	if (image->warning)
		record_warn(record, image->warning,
			"more than one image of the store answers to that name");
	if (i->not_pinned)
		record_warn(record, "image_not_pinned",
			"the image has no digest: it runs by its ID %s", image->id);
	if (i->provenance_warning)
		record_warn(record, i->provenance_warning, "%s", i->provenance_reason);
	if (i->build.without_network)
		record_warn(record, "build_without_network",
			"the image for setup is built without a network, since that of the run is "
			"filtered");
}

void run_image_record(const struct run_image *i, json_t *record)
{
	const struct image_identity *image = &i->stored.identity;

	json_object_set_new(record, "image", json_string(image->image));
	json_object_set_new(record, "image_digest",
		image->digest[0] ? json_string(image->digest) : json_null());
	json_object_set_new(record, "image_id", json_string(i->id));
	json_object_set_new(record, "reproducible", json_boolean(image->reproducible));
	run_image_warn(i, record);
}
