/*
 * Order of errors (container-driver.md §6.5): with any two faults in a run, the earlier one is
 * reported.
 */
#include "unit/unit.h"

#include "base/mem.h"
#include "executor/container/argv.h"

struct run {
	struct runtime runtime;
	struct container_options options;
	struct container_request request;
	struct request_host host;
	struct text words[2];
	struct request_interface interface;
	struct request_device device;
	struct request_mount secrets[2], mounts[17], repositories[2];
	struct request_label labels[33];
	struct text env[2];
};

static void set_option(char **where, const char *value)
{
	mem_set_string(where, value);
}

static void bad_runtime_name(struct run *r)
{
	set_option(&r->options.oci_runtime, "a/b");
}
static void foreign_extra(struct run *r)
{
	r->runtime.engine = ENGINE_DOCKER;
	strv_add(&r->options.extra_args, "--umask=0027");
}
static void bad_handle(struct run *r)
{
	r->request.handle = TEXT("c-1");
}
static void no_command(struct run *r)
{
	r->words[0] = TEXT(" ");
}
static void nul_in_command(struct run *r)
{
	r->words[1] = TEXT("a\0b");
}
static void refused_project(struct run *r)
{
	r->request.work_dir = TEXT("/etc");
}
static void high_ulimit(struct run *r)
{
	strv_add(&r->options.extra_args, "--ulimit=nofile=100000");
}
static void root_owner(struct run *r)
{
	r->request.owner_gid = 0;
}
static void host_network(struct run *r)
{
	r->request.network = TEXT("host");
}
static void bad_interface(struct run *r)
{
	r->interface = (struct request_interface){.name = TEXT("d"), .source = TEXT("lo")};
	r->request.n_interfaces = 1;
}
static void bad_resolver(struct run *r)
{
	static const struct text dns = {"localhost", 9};

	r->request.dns = &dns;
	r->request.n_dns = 1;
	if (!r->request.network.len)
		r->request.network = TEXT("made");
}
static void bad_device(struct run *r)
{
	r->device = (struct request_device){.name = TEXT("d"), .source = TEXT("/etc/passwd")};
	r->request.n_devices = 1;
}
static void device_of_a_guest(struct run *r)
{
	set_option(&r->options.oci_runtime, "runsc");
	if (r->request.n_devices == 0)
		r->device = (struct request_device){.name = TEXT("d"), .source = TEXT("/dev/zero")};
	r->request.n_devices = 1;
}
static void project_name(struct run *r)
{
	r->request.work_dir = TEXT("/srv/a\r\nb");
}
static void linked_git(struct run *r)
{
	r->request.project_files[PROJECT_GIT] = PATH_SYMLINK;
}
static void bad_secret_dir(struct run *r)
{
	r->secrets[0] =
		(struct request_mount){.source = TEXT("/s"), .target = TEXT("/run/cloop/ctl")};
	r->request.n_secret_dirs = 1;
}
static void many_mounts(struct run *r)
{
	r->request.n_mounts = 17;
}
static void reserved_mount(struct run *r)
{
	r->mounts[0] = (struct request_mount){.source = TEXT("/srv/p/a"), .target = TEXT("/etc")};
	r->request.n_mounts = r->request.n_mounts ? r->request.n_mounts : 1;
}
static void repository_in_workspace(struct run *r)
{
	r->repositories[0] =
		(struct request_mount){.source = TEXT("/srv/r"), .target = TEXT("/workspace/r")};
	r->request.n_host_mounts = 1;
}
static void many_labels(struct run *r)
{
	r->request.n_labels = 33;
}
static void bad_variable(struct run *r)
{
	r->env[0] = TEXT("no equals sign");
	r->request.n_env = 1;
}

static const struct fault {
	void (*make)(struct run *r);
	enum error_code code;
} faults[] = {
	{bad_runtime_name, ERROR_OCI_RUNTIME_PATH},
	{foreign_extra, ERROR_EXTRA_ARG_ENGINE},
	{bad_handle, ERROR_HANDLE_INVALID},
	{no_command, ERROR_ARGV_EMPTY},
	{nul_in_command, ERROR_ARGV_INVALID},
	{refused_project, ERROR_WORK_DIR_REFUSED},
	{high_ulimit, ERROR_ULIMIT_ABOVE_HOST},
	{root_owner, ERROR_ROOT_USER},
	{host_network, ERROR_NETWORK_HOST},
	{bad_interface, ERROR_INTERFACE_FORBIDDEN},
	{bad_resolver, ERROR_EGRESS_RESOLVER_INVALID},
	{bad_device, ERROR_DEVICE_OUTSIDE_DEV},
	{device_of_a_guest, ERROR_EXECUTOR_UNSUPPORTED},
	{project_name, ERROR_PATH_UNSUPPORTED},
	{linked_git, ERROR_PROTECTED_PATH_UNSAFE},
	{bad_secret_dir, ERROR_SECRET_DIR_INVALID},
	{many_mounts, ERROR_MOUNTS_TOO_MANY},
	{reserved_mount, ERROR_RESERVED_TARGET},
	{repository_in_workspace, ERROR_RESERVED_TARGET},
	{many_labels, ERROR_LABELS_TOO_MANY},
	{bad_variable, ERROR_ENV_ENTRY_INVALID},
};

static void make_run(struct run *r)
{
	struct container_options raw;
	auto_error struct error err = ERROR_INIT;

	*r = (struct run){
		.request = {.handle = TEXT("c-0123456789ab"),
			.run_dir = TEXT("/var/lib/cloop/runs/c-0123456789ab"),
			.work_dir = TEXT("/srv/p"),
			.owner_uid = 1000,
			.owner_gid = 1000,
			.n_argv = 2,
			.image = TEXT("x@sha256:00")},
		.host = {.home_id = TEXT("00112233aabbccdd"),
			.cpus = 4,
			.nofile_hard = 65536,
			.nproc_hard = -1,
			.pid_max = 32768,
			.guest = TEXT("/var/lib/cloop/guest/0123456789abcdef/cloop-guest")},
		.words = {TEXT("sh"), TEXT("-i")},
	};
	r->request.argv = r->words;
	r->request.interfaces = &r->interface;
	r->request.devices = &r->device;
	r->request.secret_dirs = r->secrets;
	r->request.mounts = r->mounts;
	r->request.host_mounts = r->repositories;
	r->request.labels = r->labels;
	r->request.env = r->env;
	container_options_init(&raw);
	container_options_init(&r->options);
	assert_done(container_options_normalize(&raw, &r->options, &err), &err);
	container_options_done(&raw);
}

/* Two faults that are one and the same thing, or of which one undoes the other. */
static bool exclude_each_other(size_t first, size_t second)
{
	return (faults[first].make == refused_project && faults[second].make == project_name) ||
	       (faults[first].make == bad_runtime_name &&
		       faults[second].make == device_of_a_guest) ||
	       (faults[first].make == foreign_extra && faults[second].make == high_ulimit);
}

static void check_pair(size_t first, size_t second)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(argv_line) line = ARGV_LINE_INIT;
	struct run r;

	make_run(&r);
	faults[second].make(&r);
	if (first != second)
		faults[first].make(&r);
	assert_int_equal(argv_build(&r.runtime, &r.options, &r.request, &r.host, &line, &err), -1);
	if (err.code != faults[first].code)
		fail_msg("faults %zu and %zu: %s, not %s: %s", first, second,
			error_code_text(err.code), error_code_text(faults[first].code),
			err.message);
	container_options_done(&r.options);
}

static void the_earlier_fault_is_reported(void **state)
{
	(void)state;
	for (size_t first = 0; first < ARRAY_SIZE(faults); first++)
		for (size_t second = first; second < ARRAY_SIZE(faults); second++)
			if (!exclude_each_other(first, second))
				check_pair(first, second);
}

static void a_run_without_fault_is_built(void **state)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(argv_line) line = ARGV_LINE_INIT;
	struct run r;

	(void)state;
	make_run(&r);
	assert_done(argv_build(&r.runtime, &r.options, &r.request, &r.host, &line, &err), &err);
	assert_string_equal(line.name, "cloop-p-0123456789ab");
	assert_int_equal(line.limits.pids, 1025);
	assert_null(line.argv.v[line.argv.n]);
	container_options_done(&r.options);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_earlier_fault_is_reported),
		cmocka_unit_test(a_run_without_fault_is_built),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
