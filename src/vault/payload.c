#include "vault/payload.h"

#include "base/mem.h"
#include "vault/device-payload.h"
#include "vault/interface-payload.h"
#include "vault/kubeconfig.h"
#include "vault/local-repo.h"
#include "vault/payload-reason.h"
#include "vault/registry-payload.h"
#include "vault/secret-file.h"

int payload_invalid(struct error *err, unsigned line, const char *reason)
{
	const char *words = payload_reason_words(reason);

	words = words ? words : reason;
	if (line > 0)
		error_set(err, ERROR_SECRET_PAYLOAD_INVALID, "line %u of the payload: %s", line,
			words);
	else
		error_set(err, ERROR_SECRET_PAYLOAD_INVALID, "the payload: %s", words);
	error_add_detail(err, "line", json_integer((json_int_t)line));
	return error_add_detail(err, "reason", json_string(reason));
}

static int check_env(const struct payload_options *o, struct text payload, struct error *err)
{
	AUTO(env_payload) p = {.v = NULL};

	return env_payload_read(&(struct env_payload_options){o->name, o->env_name, o->env_format},
		payload, &p, err);
}

static int check_file(const struct payload_options *o, struct error *err)
{
	if (o->file_mode && !secret_file_mode_valid(o->file_mode))
		return error_set(err, ERROR_SECRET_MODE_INVALID, "mode %04o of a secret file",
			(unsigned)o->file_mode);
	return secret_file_name_check(o->file_name.p ? o->file_name : o->name, err);
}

static int check_devices(struct text payload, struct error *err)
{
	AUTO(device_payload) p = {.v = NULL};

	return device_payload_read(payload, &p, err);
}

static int check_interfaces(struct text payload, struct error *err)
{
	AUTO(interface_payload) p = {.v = NULL};

	return interface_payload_read(payload, &p, err);
}

int payload_check(enum secret_kind kind, const struct payload_options *options, struct text payload,
	struct error *err)
{
	if (payload.len == 0)
		return payload_invalid(err, 0, "empty");
	if (payload.len > PAYLOAD_MAX)
		return payload_invalid(err, 0, "too_large");
	switch (kind) {
	case SECRET_ENV:
		return check_env(options, payload, err);
	case SECRET_FILE:
		return check_file(options, err);
	case SECRET_HOST_DEVICE:
		return check_devices(payload, err);
	case SECRET_HOST_INTERFACE:
		return check_interfaces(payload, err);
	case SECRET_LOCAL_REPO:
		return local_repo_payload_check(payload, err);
	case SECRET_REGISTRY:
		return registry_payload_check(payload, err);
	case SECRET_KUBECONFIG:
		return kubeconfig_check(payload, err);
	case SECRET_KIND_COUNT:
		break;
	}
	return error_set(err, ERROR_INTERNAL, "secret kind %d", (int)kind);
}
