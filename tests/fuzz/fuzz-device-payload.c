/*
 * Payloads of devices (disk-and-secrets.md §16.1): what is accepted keeps the rules, and written
 * out in full it reads as the same.
 */
#include <assert.h>
#include <stdint.h>

#include "base/path.h"
#include "base/str.h"
#include "vault/device-payload.h"
#include "vault/payload-lines.h"

static void check_entry(const struct device_entry *d)
{
	assert(path_clean(text_of(d->source)) && path_clean(text_of(d->target)));
	assert(text_starts(text_of(d->source), "/dev/") && strlen(d->source) <= 256);
	assert(text_starts(text_of(d->target), "/dev/") && strlen(d->target) <= 256);
	assert(!device_payload_forbidden(text_of(d->source)));
	assert(strcmp(device_payload_mode(d, false), "r") == 0);
}

static bool same(const struct device_entry *a, const struct device_entry *b)
{
	return !strcmp(a->name, b->name) && !strcmp(a->source, b->source) &&
	       !strcmp(a->target, b->target) && !strcmp(a->mode, b->mode);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(device_payload) first = {.v = NULL};
	AUTO(device_payload) second = {.v = NULL};
	AUTO(str) full = STR_INIT(1 << 20);

	if (device_payload_read((struct text){(const char *)data, size}, &first, &err) < 0) {
		assert(error_is(&err, ERROR_SECRET_PAYLOAD_INVALID));
		return 0;
	}
	assert(first.n > 0 && first.n <= PAYLOAD_LINES_MAX);
	for (size_t i = 0; i < first.n; i++) {
		const struct device_entry *d = &first.v[i];
		check_entry(d);
		str_addf(&full, "%s=%s:%s:%s\n", d->name, d->source, d->target, d->mode);
	}
	int again = device_payload_read((struct text){str_text(&full), full.len}, &second, &err);
	assert(again == 0 && second.n == first.n);
	for (size_t i = 0; i < first.n; i++)
		assert(same(&first.v[i], &second.v[i]));
	return 0;
}
