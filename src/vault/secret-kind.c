#include "vault/secret-kind.h"

#include "base/enum-text.h"

static const char *const names[] = {
	[SECRET_ENV] = "env",
	[SECRET_FILE] = "file",
	[SECRET_HOST_DEVICE] = "host_device",
	[SECRET_HOST_INTERFACE] = "host_interface",
	[SECRET_LOCAL_REPO] = "local_repo",
	[SECRET_REGISTRY] = "registry",
	[SECRET_KUBECONFIG] = "kubeconfig",
};
ENUM_TEXT(secret_kind, names, SECRET_KIND_COUNT)

int secret_kind_parse(struct text t, enum secret_kind *ret, struct error *err)
{
	int kind = secret_kind_from_text(t);

	if (kind < 0)
		return error_set(
			err, ERROR_SECRET_KIND_UNKNOWN, "%s is no kind of secret", quoted(t));
	*ret = (enum secret_kind)kind;
	return 0;
}
