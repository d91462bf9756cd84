#include "executor/container/supervise/devices.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "executor/container/device-access.h"
#include "executor/container/supervise/supervisor.h"
#include "sys/file.h"
#include "vault/device-open.h"

enum { STATUS_MAX = 64 << 10 };

int devices_check_host(struct supervisor *s, struct error *err)
{
	for (size_t i = 0; i < s->plan.hardware.n_devices; i++) {
		const struct plan_device *d = &s->plan.hardware.devices[i];
		if (device_open_again(d->source, d->block, d->rdev, err) < 0)
			return -1;
	}
	return 0;
}

static int inaccessible(const struct plan_device *d, const struct device_access_node *n,
	const struct device_access_who *who, struct error *err)
{
	error_set(err, ERROR_DEVICE_INACCESSIBLE,
		"device %s: %s has mode %04o and belongs to %u:%u; the workload runs as %u:%u",
		d->name, quoted_string(d->source), (unsigned)(n->mode & 07777), n->uid, n->gid,
		who->uid, who->groups[0]);
	return error_set_remedy(err,
		"change the node's mode or owner, or set executors.container.group_add: [%u]",
		n->gid);
}

static int check(int root, const struct plan_device *d, const struct device_access_who *who,
	struct error *err)
{
	struct stat st;
	auto_fd int fd =
		file_open_at(root, d->target, O_PATH, 0, FILE_IN_ROOT | FILE_NO_MAGICLINKS);

	if (fd < 0 || fstat(fd, &st) < 0)
		return error_set_errno(err, ERROR_DEVICE_CHANGED, errno,
			"device %s at %s inside the sandbox", d->name, quoted_string(d->target));
	if (st.st_rdev != d->rdev || !(d->block ? S_ISBLK(st.st_mode) : S_ISCHR(st.st_mode)))
		return error_set(err, ERROR_DEVICE_CHANGED,
			"device %s: what is at %s inside is not what was leased", d->name,
			quoted_string(d->target));
	struct device_access_node n = {st.st_mode, st.st_uid, st.st_gid};
	return device_access_allows(&n, who, d->mode) ? 0 : inaccessible(d, &n, who, err);
}

int devices_check_inside(struct supervisor *s, struct error *err)
{
	auto_free char *root_path = mem_printf("/proc/%d/root", (int)s->init_pid);
	auto_free char *status_path = mem_printf("/proc/%d/status", (int)s->init_pid);
	AUTO(str) status = STR_INIT(STATUS_MAX);
	struct device_access_who who;

	if (s->plan.hardware.n_devices == 0)
		return 0;
	auto_fd int root = open(root_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0 || file_read_at(AT_FDCWD, status_path, STATUS_MAX - 1, &status) < 0 ||
		!device_access_read((struct text){str_text(&status), status.len}, &who))
		return error_set(err, ERROR_INIT_FAILED, "the sandbox's init cannot be looked at");
	for (size_t i = 0; i < s->plan.hardware.n_devices; i++)
		if (check(root, &s->plan.hardware.devices[i], &who, err) < 0)
			return -1;
	return 0;
}
