/*
 * "Never in any argv" (container-driver.md §6.6) over random runs. Input: one byte of flags, then
 * pieces of text, each behind a byte that says where it goes and one that says how long it is.
 */
#include <assert.h>
#include <stdint.h>

#include "base/mem.h"
#include "executor/container/argv.h"

enum { LIST_MAX = 24 };

#define CANARY "zanary-v4lue"

struct input {
	struct container_options options;
	struct container_request request;
	struct text argv[LIST_MAX], env[LIST_MAX], dns[LIST_MAX];
	char *entries[LIST_MAX]; /* of env, with the canary; owned */
	struct request_mount mounts[LIST_MAX], repositories[LIST_MAX], secrets[LIST_MAX];
	struct request_device devices[LIST_MAX];
	struct request_interface interfaces[LIST_MAX];
	struct request_label labels[LIST_MAX];
};

static void set_text(char **where, struct text t)
{
	free(*where);
	*where = mem_strndup(t.p, t.len);
}

static struct request_mount mount_of(struct text t)
{
	struct request_mount m = {.read_only = t.len & 1};

	text_split(&t, '\n', &m.source);
	m.target = t.p ? t : TEXT("/m");
	return m;
}

static void add_env(struct input *in, struct text name)
{
	size_t i = in->request.n_env;

	in->entries[i] = mem_printf("%.*s=" CANARY "%zu", (int)name.len, name.p, i);
	in->env[i] = text_of(in->entries[i]);
	in->request.n_env++;
}

static void place(struct input *in, unsigned where, struct text t)
{
	struct container_request *r = &in->request;
	const size_t counts[] = {r->n_argv, r->n_env, r->n_dns, r->n_mounts, r->n_host_mounts,
		r->n_secret_dirs, r->n_devices, r->n_interfaces, r->n_labels};

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
		if (counts[i] == LIST_MAX)
			return;
	switch (where % 18) {
	case 0:
		in->argv[r->n_argv++] = t;
		break;
	case 1:
		add_env(in, t);
		break;
	case 2:
		in->dns[r->n_dns++] = t;
		break;
	case 3:
		in->mounts[r->n_mounts++] = mount_of(t);
		break;
	case 4:
		in->repositories[r->n_host_mounts++] = mount_of(t);
		break;
	case 5:
		in->secrets[r->n_secret_dirs++] = mount_of(t);
		break;
	case 6:
		in->devices[r->n_devices++] =
			(struct request_device){TEXT("d"), t, TEXT("/dev/x"), TEXT("rw")};
		break;
	case 7:
		in->interfaces[r->n_interfaces++] =
			(struct request_interface){.name = t, .source = t};
		break;
	case 8:
		in->labels[r->n_labels++] = (struct request_label){t, t};
		break;
	case 9:
		strv_add_n(&in->options.extra_args, t.p, t.len);
		break;
	case 10:
		set_text(&in->options.network, t);
		break;
	case 11:
		set_text(&in->options.oci_runtime, t);
		break;
	case 12:
		r->network = t;
		break;
	case 13:
		r->work_dir = t;
		break;
	case 14:
		r->egress_scope = t;
		break;
	case 15:
		r->sandbox_sha256 = t;
		break;
	case 16:
		r->project_files[t.len % PROJECT_FILE_COUNT] =
			(enum path_kind)(t.len / PROJECT_FILE_COUNT % PATH_KIND_COUNT);
		break;
	default:
		r->run_dir = t;
		break;
	}
}

/* An empty piece means one that passes, so that whole lines are reached without luck. */
static struct text example(unsigned where)
{
	static const char *const texts[][4] = {
		{"sh", "--privileged", "-v", "--"},
		{"TOKEN", "LD_PRELOAD", "HOME", "https_proxy"},
		{"9.9.9.9", "::1", "1.1.1.1", "2620:fe::fe"},
		{"/srv/p/a\n/a", "/srv/p/b,\"c\n/b", "/srv/p/c:d\n/workspace/c", "/srv/p/e\n/e,f"},
		{"/srv/q\n/q", "/srv/r,s\n/r:s", "/srv/\"t\n/t", "/srv/u\n/u"},
		{"/dev/shm/a\n/run/cloop/a", "/dev/shm/b\n/run/cloop/b", "/dev/shm/c\n/run/cloop/c",
			"/dev/shm/d\n/run/cloop/d"},
		{"/dev/zero", "/dev/null", "/dev/ttyS0", "/dev/ttyUSB0"},
		{"eth1", "enp3s0", "veth0", "wlan0"},
		{"task", "cloop.managed", "a b", "--privileged"},
		{"--hostname=lab", "--ulimit=core=0", "--cap-drop=MKNOD", "--dns=1.1.1.1"},
		{"bridge", "corp", "lab-net", "none"},
		{"crun", "runc", "runsc", "kata-qemu"},
		{"cloop-sbx-1", "cloop-sbx-2", "made", "none"},
		{"/srv/p", "/srv/p,q", "/srv/\"p", "/srv/--privileged"},
		{"public", "none", "public", "none"},
	};
	size_t slot = where % 18;

	return slot < ARRAY_SIZE(texts) ? text_of(texts[slot][where / 18 % 4]) : TEXT("/x");
}

static void read_pieces(struct input *in, struct text rest)
{
	while (rest.len >= 2) {
		unsigned where = (unsigned char)rest.p[0];
		size_t n = (unsigned char)rest.p[1];
		rest = text_after(rest, 2);
		n = n < rest.len ? n : rest.len;
		place(in, where, n ? (struct text){rest.p, n} : example(where));
		rest = text_after(rest, n);
	}
}

static bool path_word(struct text w)
{
	static const char *const flags[] = {"--mount=", "--volume=", "--label=", "--cidfile=",
		"--conmon-pidfile=", "--pidfile="};

	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		if (text_starts(w, flags[i]))
			return true;
	return false;
}

static void check_word(struct text w)
{
	static const char *const never[] = {"--privileged", "--cap-add", "--rm", "--init",
		"--publish", "-p", "-v", "--security-opt=seccomp", "--env-host", "--secret",
		"--gpus", "--device-cgroup-rule", "--volumes-from", "--annotation",
		"--cgroup-parent"};
	static const char *const spaces[] = {"--network=host", "--pid=host", "--ipc=host",
		"--uts=host", "--cgroupns=host", "--userns=host"};

	for (size_t i = 0; i < ARRAY_SIZE(never); i++) {
		assert(!text_is(w, never[i]));
		assert(!text_starts(w, never[i]) || w.p[strlen(never[i])] != '=');
	}
	for (size_t i = 0; i < ARRAY_SIZE(spaces); i++)
		assert(!text_is_nocase(w, spaces[i]));
	if (path_word(w))
		return;
	assert(!text_has(w, "unconfined") || text_starts(w, "--hostname=") ||
		text_starts(w, "--name=") || text_starts(w, "--dns") ||
		text_starts(w, "--network=") || text_starts(w, "--runtime=") ||
		text_starts(w, "--env=") || text_starts(w, "--tz="));
	assert(!text_has(w, "/docker.sock") && !text_has(w, "/podman.sock"));
}

static size_t count_prefix(const struct strv *argv, size_t n, const char *prefix)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++)
		found += text_starts(text_of(argv->v[i]), prefix);
	return found;
}

static void check_line(const struct input *in, const struct argv_line *line)
{
	static const char *const once[] = {"--entrypoint=", "--network=", "--name=",
		"--pids-limit=", "--hostname=", "--shm-size=", "--cidfile=", "--workdir=",
		"--cap-drop=ALL", "--security-opt=", "--read-only", "--tmpfs="};
	const struct container_request *r = &in->request;
	size_t n = line->argv.n, end = n - r->n_argv - 2;

	assert(n > r->n_argv + 2 && strcmp(line->argv.v[end], "--") == 0);
	for (size_t i = 1; i < end; i++) {
		struct text w = text_of(line->argv.v[i]);
		assert(i <= 2 || text_starts(w, "--"));
		assert(!text_is(w, "--"));
		assert(!text_has(w, CANARY));
		check_word(w);
	}
	for (size_t i = 0; i < r->n_argv; i++)
		assert(text_is(r->argv[i], line->argv.v[end + 2 + i]));
	for (size_t i = 0; i < ARRAY_SIZE(once); i++)
		assert(count_prefix(&line->argv, end, once[i]) ==
			1u + (strcmp(once[i], "--read-only") == 0 &&
				     count_prefix(&line->argv, end, "--read-only-tmpfs=") > 0));
	assert(count_prefix(&line->argv, end, "--mount=") +
			count_prefix(&line->argv, end, "--volume=") ==
		line->mounts.n);
}

static void point_lists(struct input *in)
{
	struct container_request *r = &in->request;

	r->argv = in->argv;
	r->env = in->env;
	r->dns = in->dns;
	r->mounts = in->mounts;
	r->host_mounts = in->repositories;
	r->secret_dirs = in->secrets;
	r->devices = in->devices;
	r->interfaces = in->interfaces;
	r->labels = in->labels;
}

static int make_options(struct container_options *o, unsigned flags, struct error *err)
{
	struct container_options raw;
	static const char *const labels[] = {"", "z", "Z", ""};

	container_options_init(&raw);
	container_options_init(o);
	raw.selinux_label = mem_strdup(labels[flags >> 2 & 3]);
	raw.protect_project_files = !(flags & 16);
	raw.allow_root_user = flags & 32;
	int r = container_options_normalize(&raw, o, err);
	container_options_done(&raw);
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct request_host host = {.home_id = TEXT("00112233aabbccdd"),
		.cpus = 4,
		.nofile_hard = 4096,
		.nproc_hard = -1,
		.pid_max = 32768,
		.guest = TEXT("/var/lib/cloop/guest/0123456789abcdef/cloop-guest"),
		.user_home = TEXT("/root"),
		.cloop_home = TEXT("/var/lib/cloop")};
	auto_error struct error err = ERROR_INIT;
	AUTO(argv_line) line = ARGV_LINE_INIT;
	struct input in = {.request = {.handle = TEXT("c-0123456789ab"),
				   .run_dir = TEXT("/var/lib/cloop/runs/c-0123456789ab"),
				   .work_dir = TEXT("/srv/p"),
				   .owner_uid = 1000,
				   .owner_gid = 1000,
				   .image = TEXT("localhost/x@sha256:00")}};
	unsigned flags = size ? data[0] : 0;
	const struct runtime runtime = {
		.engine = flags & 1 ? ENGINE_DOCKER : ENGINE_PODMAN, .rootless = (flags & 3) == 2};

	if (size < 2 || memmem(data, size, CANARY, strlen(CANARY)))
		return 0;
	assert(make_options(&in.options, flags, &err) == 0);
	in.request.disable_network = flags & 64;
	in.request.ipv6 = flags & 128;
	read_pieces(&in, (struct text){(const char *)data + 1, size - 1});
	if (in.request.n_argv == 0)
		in.argv[in.request.n_argv++] = TEXT("--privileged");
	point_lists(&in);
	if (argv_build(&runtime, &in.options, &in.request, &host, &line, &err) == 0)
		check_line(&in, &line);
	else
		assert(err.code != ERROR_NONE && !strstr(err.message, CANARY));
	for (size_t i = 0; i < in.request.n_env; i++)
		free(in.entries[i]);
	container_options_done(&in.options);
	return 0;
}
