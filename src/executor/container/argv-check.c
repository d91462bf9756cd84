#include "executor/container/argv-check.h"

#include <stdio.h>

#include "base/num.h"
#include "base/address.h"
#include "executor/container/validate.h"

enum {
	WORKLOAD_WORDS_MAX = 4096,
	WORKLOAD_WORD_BYTES_MAX = 131071,
	WORKLOAD_BYTES_MAX = 1 << 20,
};

static const char ulimit_flag[] = "--ulimit=";

bool argv_check_has_extra(const struct argv_check *c, const char *prefix)
{
	strv_foreach (arg, &c->options->extra_args)
		if (text_starts(text_of(*arg), prefix))
			return true;
	return false;
}

static int check_options(const struct argv_check *c, struct error *err)
{
	const struct strv *extra = &c->options->extra_args;
	struct text args[OPTIONS_EXTRA_ARGS_MAX];

	if (validate_oci_runtime(text_of(c->options->oci_runtime), err) < 0)
		return -1;
	for (size_t i = 0; i < extra->n && i < OPTIONS_EXTRA_ARGS_MAX; i++)
		args[i] = text_of(extra->v[i]);
	if (extra->n > OPTIONS_EXTRA_ARGS_MAX)
		return error_set(err, ERROR_EXTRA_ARGS_TOO_MANY,
			"%zu extra arguments, at most %d are possible", extra->n,
			OPTIONS_EXTRA_ARGS_MAX);
	return validate_extra_args(args, extra->n, (int)c->runtime->engine, err);
}

int argv_check_words(const struct container_request *r, struct error *err)
{
	size_t bytes = 0;

	if (r->n_argv == 0 || text_blank(r->argv[0]))
		return error_set(err, ERROR_ARGV_EMPTY, "the run has no command");
	for (size_t i = 0; i < r->n_argv; i++)
		if (text_has_byte(r->argv[i], '\0'))
			return error_set(err, ERROR_ARGV_INVALID,
				"word %zu of the command holds a NUL byte", i + 1);
	if (r->n_argv > WORKLOAD_WORDS_MAX)
		return error_set(err, ERROR_ARGV_TOO_LARGE,
			"the command has %zu words, at most %d are possible", r->n_argv,
			WORKLOAD_WORDS_MAX);
	for (size_t i = 0; i < r->n_argv; i++) {
		bytes += r->argv[i].len + 1;
		if (r->argv[i].len > WORKLOAD_WORD_BYTES_MAX || bytes > WORKLOAD_BYTES_MAX)
			return error_set(err, ERROR_ARGV_TOO_LARGE,
				"the command is too large at word %zu: at most %d bytes a word, "
				"%d in all",
				i + 1, WORKLOAD_WORD_BYTES_MAX, WORKLOAD_BYTES_MAX);
	}
	return 0;
}

/* Our own words that come from outside this folder: a NUL would cut them short. */
static int check_own_words(const struct container_request *r, struct error *err)
{
	if (text_has_byte(r->image, '\0') || text_has_byte(r->run_dir, '\0'))
		return error_set(
			err, ERROR_ARGV_INVALID, "the image or the run directory holds a NUL byte");
	return 0;
}

/* The hard value of NAME=SOFT[:HARD], already judged by §5.8; INT64_MAX = unlimited. */
static int64_t hard_value(struct text ulimit)
{
	struct text part, last = {"", 0};
	uint64_t n = 0;

	text_split(&ulimit, '=', &part);
	while (text_split(&ulimit, ':', &part))
		last = part;
	return num_parse(last, INT64_MAX, &n) == NUM_OK ? (int64_t)n : INT64_MAX;
}

/* podman asks for the limit with its own rights, so it fails above them; docker's daemon does not.
 */
static int check_ulimits(const struct argv_check *c, struct error *err)
{
	if (c->runtime->engine != ENGINE_PODMAN)
		return 0;
	strv_foreach (arg, &c->options->extra_args) {
		struct text t = text_of(*arg);
		if (!text_starts(t, ulimit_flag))
			continue;
		t = text_after(t, strlen(ulimit_flag));
		int64_t own = text_starts(t, "nofile=")  ? c->host->nofile_hard
			      : text_starts(t, "nproc=") ? c->host->nproc_hard
							 : -1;
		if (own >= 0 && hard_value(t) > own)
			return error_set(err, ERROR_ULIMIT_ABOVE_HOST,
				"extra argument %s asks for more than this host's hard limit of "
				"%lld",
				quoted_string(*arg), (long long)own);
	}
	return 0;
}

static int check_identity(const struct argv_check *c, struct error *err)
{
	char user[48];

	if (c->runtime->rootless)
		return c->runtime->engine == ENGINE_PODMAN
			       ? 0
			       : error_set(err, ERROR_RUNTIME_UNSUPPORTED,
					 "a rootless docker cannot be used");
	snprintf(user, sizeof(user), "%u:%u", c->request->owner_uid, c->request->owner_gid);
	if (validate_user(text_of(user), err) == 0)
		return 0;
	if (error_is(err, ERROR_ROOT_USER) && c->options->allow_root_user) {
		error_clear(err);
		return 0;
	}
	return error_prefix(err, "the owner of project %s", quoted(c->request->work_dir));
}

static bool switched_off(const struct container_request *r)
{
	return r->disable_network || text_is(r->egress_scope, "none");
}

static int check_network(struct argv_check *c, struct error *err)
{
	bool off = switched_off(c->request);

	struct text given = c->request->network;

	c->network_made = !off && given.len > 0 && !text_is(given, "none");
	c->network = off ? TEXT("none") : given.len > 0 ? given : text_of(c->options->network);
	if (c->network.len == 0)
		c->network = TEXT("none");
	c->network_off = text_is(c->network, "none");
	return validate_network(c->network, err);
}

static int check_interfaces(const struct container_request *r, struct error *err)
{
	if (validate_interfaces(r->interfaces, r->n_interfaces, err) < 0)
		return -1;
	if (r->n_interfaces > 0 && switched_off(r))
		return error_set(err, ERROR_INTERFACES_WITHOUT_NETWORK,
			"the run asks for interface %s and for no network",
			quoted(r->interfaces[0].name));
	return 0;
}

static int check_resolvers(const struct argv_check *c, struct error *err)
{
	struct address address;

	for (size_t i = 0; c->network_made && i < c->request->n_dns; i++)
		if (!address_parse(c->request->dns[i], &address))
			return error_set(err, ERROR_EGRESS_RESOLVER_INVALID,
				"the resolver %s is not an IP address", quoted(c->request->dns[i]));
	return 0;
}

static int check_kernel(struct argv_check *c, struct error *err)
{
	const struct container_request *r = c->request;

	c->standalone = oci_class_kernel_isolated(oci_class_of(text_of(c->options->oci_runtime)));
	if (c->standalone && r->n_devices + r->n_interfaces > 0)
		return error_set(err, ERROR_EXECUTOR_UNSUPPORTED,
			"runtime %s has a kernel of its own: %s %s cannot be given to it",
			quoted_string(c->options->oci_runtime),
			r->n_devices ? "device" : "interface",
			quoted(r->n_devices ? r->devices[0].name : r->interfaces[0].name));
	return 0;
}

int argv_check(struct argv_check *c, struct error *err)
{
	const struct container_request *r = c->request;

	if (check_options(c, err) < 0 || validate_handle(r->handle, err) < 0 ||
		argv_check_words(r, err) < 0 || check_own_words(r, err) < 0 ||
		validate_work_dir(r->work_dir, c->host->user_home, c->host->cloop_home, err) < 0)
		return -1;
	if (check_ulimits(c, err) < 0 || check_identity(c, err) < 0 || check_network(c, err) < 0 ||
		check_interfaces(r, err) < 0 || check_resolvers(c, err) < 0 ||
		validate_devices(r->devices, r->n_devices, err) < 0)
		return -1;
	return check_kernel(c, err);
}
