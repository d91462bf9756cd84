#include "executor/container/supervise/interfaces.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include "base/mem.h"
#include "executor/container/supervise/ip-call.h"
#include "executor/container/supervise/supervisor.h"
#include "sys/clock.h"
#include "sys/fault.h"
#include "sys/file.h"
#include "sys/log.h"

enum { RETURN_ATTEMPTS = 3, RETURN_AGAIN_MS = 100, WAY_NAME_SIZE = 16 };

#define STATE_FILE "interfaces.json"
#define NETNS_FILE "netns"

void interfaces_done(struct interfaces *i)
{
	if (i->ns >= 0)
		close(i->ns);
	*i = INTERFACES_INIT;
}

/* ---- The namespace ---- */

static char *kept_path(const struct supervisor *s)
{
	return mem_printf("%s/" NETNS_FILE, s->run.path);
}

/* Held beyond this process; where that cannot be, the descriptor has to do. */
static void keep_namespace(struct supervisor *s, const char *source)
{
	auto_free char *path = kept_path(s);
	auto_fd int fd = open(path, O_RDONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd >= 0 && mount(source, path, NULL, MS_BIND, NULL) < 0) {
		log_warning("the network namespace is not kept at %s: %s", path, strerror(errno));
		unlink(path);
	}
}

static void forget_namespace(struct supervisor *s)
{
	auto_free char *path = kept_path(s);

	umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW);
	unlink(path);
	interfaces_done(&s->interfaces);
}

/* Else the mount could not be made, or is gone with the last boot. */
static bool is_namespace(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == NSFS_MAGIC;
}

static bool same_as_ours(int ns)
{
	struct stat a, b;

	return fstat(ns, &a) == 0 && stat("/proc/self/ns/net", &b) == 0 && file_same(&a, &b);
}

/* The init that was verified is still the process of this number. */
static bool init_lives(const struct supervisor *s)
{
	struct pollfd p = {.fd = s->init_pidfd, .events = POLLIN};

	return s->init_pidfd >= 0 && poll(&p, 1, 0) == 0;
}

static int open_namespace(struct supervisor *s, struct error *err)
{
	auto_free char *path = mem_printf("/proc/%d/ns/net", (int)s->init_pid);

	s->interfaces.ns = open(path, O_RDONLY | O_CLOEXEC);
	if (s->interfaces.ns < 0 || !init_lives(s))
		return error_set(
			err, ERROR_INIT_FAILED, "the sandbox's network namespace is not there");
	if (same_as_ours(s->interfaces.ns))
		return error_set(err, ERROR_CONFINEMENT_MISMATCH,
			"the sandbox has no network namespace of its own");
	keep_namespace(s, path);
	return 0;
}

/* ---- What is on record ---- */

static json_t *state_of(const struct plan_interface *i, const struct ip_link *l)
{
	return json_pack("{s:s, s:s, s:I, s:s, s:I, s:b}", "source", i->source, "target", i->target,
		"index", (json_int_t)l->index, "mac", l->mac, "mtu", (json_int_t)l->mtu, "up",
		l->up);
}

static int record(struct supervisor *s, json_t *list, const struct plan_interface *i,
	const struct ip_link *l, struct error *err)
{
	auto_json *whole = json_object();

	json_array_append_new(list, state_of(i, l));
	json_object_set_new(whole, "boot_id", json_string(clock_boot_id()));
	json_object_set(whole, "interfaces", list);
	s->interfaces.out = true;
	return rundir_write(&s->run, STATE_FILE, whole, false, err);
}

static bool on_record(const struct supervisor *s)
{
	return faccessat(s->run.fd, STATE_FILE, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* ---- Giving ---- */

static int in_use(const struct plan_interface *i, const char *why, struct error *err)
{
	return error_set(err, ERROR_INTERFACE_IN_USE, "interface %s (%s): %s",
		quoted_string(i->source), i->name, why);
}

static const struct ip_link *by_name(const struct ip_links *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->v[i].name, name) == 0)
			return &l->v[i];
	return NULL;
}

/* It may go: it is here, nobody's port, and no way out of this host. */
static int check(const struct plan_interface *i, struct ip_link *ret, struct error *err)
{
	AUTO(ip_links) links = {.v = NULL};
	auto_free char *route = NULL;

	if (ip_call_links(-1, &links, err) < 0)
		return -1;
	const struct ip_link *l = by_name(&links, i->source);
	if (!l) {
		in_use(i, "there is no such interface in this host's network namespace", err);
		return error_set_remedy(err, "see which there are: ip link");
	}
	if (l->master[0]) {
		auto_free char *why = mem_printf("it is a port of %s", l->master);
		return in_use(i, why, err);
	}
	*ret = *l;
	int r = ip_call_default_route(i->source, &route, err);
	if (r < 0) {
		auto_free char *why = mem_printf("the routes cannot be read: %s", err->message);
		return in_use(i, why, err);
	}
	return r ? in_use(i, route, err) : 0;
}

static int walk_give(struct supervisor *s, const struct plan_interface *i, struct error *err)
{
	for (unsigned n = 0;; n++) {
		AUTO(ip_step) step = IP_STEP_INIT;
		if (!ip_line_give(i, s->init_pid, n, &step))
			return 0;
		auto_free char *point = mem_printf("interface:%s", step.what);
		if (fault_hit(point))
			return error_set(
				err, ERROR_INTERFACE_FAILED, "fault injected at %s", point);
		if (ip_call_step(s->interfaces.ns, &step, err) == 0)
			continue;
		auto_free char *why = mem_strdup(err->message);
		return error_set(err, ERROR_INTERFACE_FAILED, "interface %s (%s), %s: %s",
			quoted_string(i->source), i->name, step.what, why);
	}
}

static int give_all(struct supervisor *s, struct error *err)
{
	auto_json *list = json_array();

	for (size_t k = 0; k < s->plan.hardware.n_interfaces; k++) {
		const struct plan_interface *i = &s->plan.hardware.interfaces[k];
		struct ip_link link;
		if (check(i, &link, err) < 0 || record(s, list, i, &link, err) < 0 ||
			walk_give(s, i, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- Taking back ---- */

/* One that is on record. */
struct away {
	const char *source, *target, *mac;
	char way[WAY_NAME_SIZE];
	unsigned index;
	unsigned long mtu;
	bool up;
};

static bool read_away(const json_t *j, struct away *ret)
{
	*ret = (struct away){
		.source = json_get_string(j, "source"),
		.target = json_get_string(j, "target"),
		.mac = json_get_string(j, "mac"),
		.index = (unsigned)json_get_int(j, "index", 0),
		.mtu = (unsigned long)json_get_int(j, "mtu", 0),
		.up = json_get_bool(j, "up", false),
	};
	snprintf(ret->way, sizeof(ret->way), "cloop%u", ret->index);
	return ret->source && ret->target && ret->mac;
}

/* What it is called in a namespace; "" = it is not there. */
static int find(
	int ns, const struct away *a, bool exact, char ret_name[IF_NAMESIZE], struct error *err)
{
	AUTO(ip_links) links = {.v = NULL};
	struct ip_identity who = {a->index, a->mac, {a->source, a->target, a->way}, exact};

	if (ip_call_links(ns, &links, err) < 0)
		return -1;
	const struct ip_link *l = ip_answer_find(&links, &who);
	memcpy(ret_name, l ? l->name : (char[IF_NAMESIZE]){""}, IF_NAMESIZE);
	return 0;
}

/*
 * Its name here and in the sandbox, one of them "". One of this host's own may have its MAC: only
 * when the sandbox does not have it can it be known by that alone.
 */
static int locate(const struct supervisor *s, const struct away *a, char here[IF_NAMESIZE],
	char inside[IF_NAMESIZE], struct error *err)
{
	inside[0] = '\0';
	if (find(-1, a, true, here, err) < 0)
		return -1;
	if (here[0])
		return 0;
	if (s->interfaces.ns >= 0 && find(s->interfaces.ns, a, false, inside, err) < 0)
		return -1;
	return inside[0] ? 0 : find(-1, a, false, here, err);
}

typedef bool walk_fn(const struct ip_return *r, unsigned n, struct ip_step *ret);

static int walk_return(
	struct supervisor *s, walk_fn *line, const struct ip_return *r, struct error *err)
{
	for (unsigned n = 0;; n++) {
		AUTO(ip_step) step = IP_STEP_INIT;
		if (!line(r, n, &step))
			return 0;
		auto_free char *point = mem_printf("interface-back:%s", step.what);
		if (fault_hit(point))
			return error_set(err, ERROR_IO, "fault injected at %s", point);
		if (ip_call_step(s->interfaces.ns, &step, err) < 0)
			return -1;
	}
}

/* 0 it is back, 1 it is nowhere, -1 not yet. */
static int take_back(struct supervisor *s, const struct away *a, struct error *err)
{
	char name[IF_NAMESIZE], inside[IF_NAMESIZE];
	struct ip_return r = {
		.way = a->way, .name = a->source, .mtu = a->mtu, .up = a->up, .pid = getpid()};

	if (locate(s, a, name, inside, err) < 0)
		return -1;
	if (!name[0] && !inside[0])
		return 1;
	if (inside[0]) {
		r.now = inside;
		if (walk_return(s, ip_line_take, &r, err) < 0)
			return -1;
		memcpy(name, a->way, IF_NAMESIZE);
	}
	r.now = name;
	return walk_return(s, ip_line_restore, &r, err);
}

/* True: nothing is left to be done for it. */
static bool settle(struct supervisor *s, const struct away *a)
{
	auto_error struct error err = ERROR_INIT;
	auto_free char *path = kept_path(s);

	for (unsigned n = 0; n < RETURN_ATTEMPTS; n++) {
		int r = take_back(s, a, &err);
		if (r == 0)
			return true;
		if (r > 0) {
			record_warn(s->record, "interface_lost",
				"interface %s went away with the sandbox", a->source);
			return true;
		}
		clock_sleep_ms(RETURN_AGAIN_MS);
	}
	log_warning("%s", err.message);
	record_warn(s->record, "interface_stranded",
		"interface %s could not be taken back (nsenter --net=%s): %s", a->source, path,
		err.message);
	return false;
}

/* What it could not do: names for a message, NULL = nothing. */
static char *settle_all(struct supervisor *s, const json_t *list)
{
	AUTO(strv) stranded = STRV_INIT(PLAN_INTERFACES_MAX);

	for (size_t i = json_array_size(list); i > 0; i--) {
		struct away a;
		if (read_away(json_array_get(list, i - 1), &a) && !settle(s, &a))
			strv_add(&stranded, a.source);
	}
	return stranded.n > 0 ? strv_join(&stranded, ", ") : NULL;
}

static char *take_all_back(struct supervisor *s)
{
	auto_error struct error err = ERROR_INIT;
	char *stranded = NULL;

	fault_hit("interface-back:begin");
	auto_json *state = on_record(s) ? rundir_read(&s->run, STATE_FILE, &err) : NULL;
	const char *boot = json_get_string(state, "boot_id");
	/* Another boot has brought every physical interface up anew, and has no virtual one. */
	if (boot && strcmp(boot, clock_boot_id()) == 0)
		stranded = settle_all(s, json_object_get(state, "interfaces"));
	s->interfaces.out = false;
	if (!stranded) {
		unlinkat(s->run.fd, STATE_FILE, 0);
		forget_namespace(s);
	}
	return stranded;
}

void interfaces_restore(struct supervisor *s)
{
	auto_free char *path = kept_path(s);
	auto_free char *process = mem_printf("/proc/%d/ns/net", (int)s->init_pid);

	if (!on_record(s))
		return;
	if (s->interfaces.ns < 0)
		s->interfaces.ns = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (s->interfaces.ns >= 0 && !is_namespace(s->interfaces.ns))
		interfaces_done(&s->interfaces);
	if (s->interfaces.ns < 0 && init_lives(s))
		s->interfaces.ns = open(process, O_RDONLY | O_CLOEXEC);
	s->interfaces.out = true;
}

void interfaces_return(struct supervisor *s)
{
	if (s->adopted && !s->interfaces.out)
		interfaces_restore(s);
	if (s->interfaces.out)
		free(take_all_back(s));
}

int interfaces_give(struct supervisor *s, struct error *err)
{
	auto_error struct error why = ERROR_INIT;

	if (s->plan.hardware.n_interfaces == 0)
		return 0;
	if (ip_call_possible(err) < 0 || open_namespace(s, err) < 0)
		return -1;
	if (give_all(s, err) == 0)
		return 0;
	error_move(&why, err);
	auto_free char *stranded = take_all_back(s);
	error_move(err, &why);
	return stranded ? error_prefix(err, "stranded: %s; then", stranded) : -1;
}
