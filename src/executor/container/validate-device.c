/* Granted devices (container-driver.md §5.11; the forbidden ones: disk-and-secrets.md §16.1). */
#include "executor/container/validate.h"

#include "base/path.h"
#include "vault/device-payload.h"
#include "vault/grant-constraint.h"

enum { DEVICES_MAX = 16, DEVICE_PATH_MAX = 256 };

static bool has_separator(struct text t)
{
	return text_has_control(t) || text_has_byte(t, ' ') || text_has_byte(t, ':') ||
	       text_has_byte(t, ',');
}

static int check_path(struct text path, struct text device, struct error *err)
{
	if (!path_clean(path) || path.len > DEVICE_PATH_MAX || has_separator(path))
		return error_set(err, ERROR_DEVICE_PATH_INVALID,
			"device %s: %s is not a clean path", quoted(device), quoted(path));
	if (!text_starts(path, "/dev/"))
		return error_set(err, ERROR_DEVICE_OUTSIDE_DEV, "device %s: %s is not below /dev",
			quoted(device), quoted(path));
	return 0;
}

static bool permissions_valid(struct text t)
{
	return t.len == 0 || text_is(t, "r") || text_is(t, "rw") || text_is(t, "rwm");
}

static struct text target_of(const struct request_device *d)
{
	return d->target.len ? d->target : d->source;
}

int validate_device(const struct request_device *d, struct error *err)
{
	if (!grant_constraints_item_name(d->name))
		return error_set(err, ERROR_DEVICE_NAME_INVALID, "%s is not the name of a device",
			quoted(d->name));
	if (check_path(d->source, d->name, err) < 0 || check_path(target_of(d), d->name, err) < 0)
		return -1;
	if (device_payload_forbidden(d->source))
		return error_set(err, ERROR_DEVICE_FORBIDDEN, "device %s: %s is never given",
			quoted(d->name), quoted(d->source));
	if (!permissions_valid(d->permissions))
		return error_set(err, ERROR_DEVICE_PERMISSIONS_INVALID, "device %s: permissions %s",
			quoted(d->name), quoted(d->permissions));
	return 0;
}

int validate_devices(const struct request_device *d, size_t n, struct error *err)
{
	if (n > DEVICES_MAX)
		return error_set(
			err, ERROR_DEVICES_TOO_MANY, "there are more than %d devices", DEVICES_MAX);
	for (size_t i = 0; i < n; i++) {
		if (validate_device(&d[i], err) < 0)
			return -1;
		for (size_t j = 0; j < i; j++)
			if (text_equal(d[i].name, d[j].name) ||
				text_equal(target_of(&d[i]), target_of(&d[j])))
				return error_set(err, ERROR_DEVICE_DUPLICATE,
					"device %s has a name or target twice", quoted(d[i].name));
	}
	return 0;
}
