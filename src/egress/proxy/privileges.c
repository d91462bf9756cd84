#include "egress/proxy/privileges.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

enum { NOBODY = 65534 };

static int drop_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};

	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 && errno != EINVAL)
		return -1;
	return (int)syscall(SYS_capset, &header, none);
}

int privileges_drop(struct error *err)
{
	if (geteuid() == 0 && (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
				      setresuid(NOBODY, NOBODY, NOBODY) < 0))
		return error_set_errno(err, ERROR_EGRESS_PROXY_FAILED, errno,
			"the egress proxy cannot give root up");
	if (drop_capabilities() < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return error_set_errno(err, ERROR_EGRESS_PROXY_FAILED, errno,
			"the egress proxy cannot give its privileges up");
	return 0;
}
