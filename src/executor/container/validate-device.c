/* Granted devices (container-driver.md §5.11; the forbidden ones: disk-and-secrets.md §16.1). */
#include "executor/container/validate.h"

enum { DEVICES_MAX = 16, NAME_BYTES_MAX = 64, DEVICE_PATH_MAX = 256 };

/* Below /dev: exactly these. */
static const char *const forbidden_names[] = {"mem", "kmem", "port", "kcore", "kmsg", "nvram",
	"oldmem", "msr", "cpu_dma_latency", "snapshot", "mapper/control", "loop-control",
	"btrfs-control", "uinput", "uhid", "console", "ptmx", "stdin", "stdout", "stderr"};
/* Whatever begins so. */
static const char *const forbidden_prefixes[] = {"vhost-", "vcs", "hugepages"};
/* These, and all below them. */
static const char *const forbidden_trees[] = {"cpu", "pts", "fd", "shm", "mqueue"};

/* `tty` and digits: a virtual console. */
static bool is_console(struct text below_dev)
{
	if (!text_starts(below_dev, "tty") || below_dev.len == 3)
		return false;
	for (size_t i = 3; i < below_dev.len; i++)
		if (!ascii_digit(below_dev.p[i]))
			return false;
	return true;
}

static bool forbidden(struct text path)
{
	struct text below_dev = text_after(path, strlen("/dev/"));

	for (size_t i = 0; i < ARRAY_SIZE(forbidden_names); i++)
		if (text_is(below_dev, forbidden_names[i]))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(forbidden_prefixes); i++)
		if (text_starts(below_dev, forbidden_prefixes[i]))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(forbidden_trees); i++)
		if (path_at_or_below(below_dev, text_of(forbidden_trees[i])))
			return true;
	return is_console(below_dev);
}

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

static bool name_valid(struct text t)
{
	return t.len >= 1 && t.len <= NAME_BYTES_MAX && ascii_alnum(t.p[0]) &&
	       text_all_word(t, "._-");
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
	if (!name_valid(d->name))
		return error_set(err, ERROR_DEVICE_NAME_INVALID, "%s is not the name of a device",
			quoted(d->name));
	if (check_path(d->source, d->name, err) < 0 || check_path(target_of(d), d->name, err) < 0)
		return -1;
	if (forbidden(d->source))
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
