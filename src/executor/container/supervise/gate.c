/*
 * The init's socket: RUN/ctl/sock, which exists only while an init is waited for, and the one
 * connection to it (container-driver.md §9.1 step 12, §16.2, §23).
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "base/mem.h"
#include "executor/container/supervise/supervisor.h"
#include "executor/container/supervise/verify.h"
#include "sys/clock.h"
#include "sys/fault.h"

enum { MUTE_AFTER_MS = 10000, PEERS_A_TURN = 16 };

int gate_make_folder(struct supervisor *s, struct error *err)
{
	if (mkdirat(s->run.fd, "ctl", 0700) < 0 && errno != EEXIST)
		return error_set_errno(
			err, ERROR_HOME_UNUSABLE, errno, "making %s/ctl", s->run.path);
	s->ctl_fd = openat(s->run.fd, "ctl", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (s->ctl_fd < 0)
		return error_set_errno(
			err, ERROR_HOME_UNUSABLE, errno, "opening %s/ctl", s->run.path);
	if (!s->plan.runtime.rootless && fchown(s->ctl_fd, s->plan.uid, s->plan.gid) < 0)
		return error_set_errno(err, ERROR_OWNER_NOT_SELF, errno,
			"giving %s/ctl to the sandbox", s->run.path);
	return 0;
}

void gate_unlisten(struct supervisor *s)
{
	loop_remove(s->listening);
	s->listening = NULL;
	if (s->listen_fd >= 0)
		close(s->listen_fd);
	s->listen_fd = -1;
	if (s->ctl_fd >= 0)
		unlinkat(s->ctl_fd, "sock", 0);
}

void gate_disconnect(struct supervisor *s)
{
	loop_remove(s->init_source);
	s->init_source = NULL;
	if (s->init_fd >= 0)
		close(s->init_fd);
	s->init_fd = -1;
}

void gate_set_mute(struct supervisor *s, const char *reason)
{
	loop_remove(s->init_timer);
	s->init_timer = NULL;
	if (s->mute)
		return;
	s->mute = true;
	record_warn(s->record, "init_mute", "the init of the sandbox does not answer: %s", reason);
	supervisor_persist(s, false);
}

static void on_mute_timer(void *data)
{
	struct supervisor *s = data;

	s->init_timer = NULL;
	gate_set_mute(s, "no connection for 10 s");
}

/*
 * The connection is gone while the sandbox may live: its init comes back, or is mute. One that
 * broke the protocol is mute at once; it is listened for all the same.
 */
static void lost_connection(struct supervisor *s, const char *reason, bool broken)
{
	auto_error struct error err = ERROR_INIT;

	gate_disconnect(s);
	attach_on_lost(s);
	if (s->phase == PHASE_STARTING) {
		error_set(&err, ERROR_INIT_FAILED, "the init of the sandbox went away: %s", reason);
		start_fail(s, &err);
		return;
	}
	/* After `exit` it only has to end. */
	if (!supervisor_released(s) || s->wait_status >= 0)
		return;
	s->expected_pid = s->init_pid;
	if (gate_listen(s, &err) < 0)
		gate_set_mute(s, err.message);
	else if (broken)
		gate_set_mute(s, reason);
	else if (!s->init_timer && !s->mute)
		s->init_timer =
			loop_at(s->loop, clock_boottime_ms() + MUTE_AFTER_MS, on_mute_timer, s);
}

static void on_exit_message(struct supervisor *s, const struct init_message *m)
{
	s->wait_status = m->exit.wait_status;
	finish_read_usage(s);
	/* The engine may be faster in removing the group than we are in reading it. */
	if (!s->cgroup_ours || s->cpu_ms < 0)
		s->cpu_ms = (int64_t)((m->exit.user_us + m->exit.system_us) / 1000);
	if (!s->cgroup_ours || s->memory_peak < 0)
		s->memory_peak = (int64_t)(m->exit.maxrss_kib * 1024);
	json_t *supervision = record_supervision(s->record);
	json_object_set_new(supervision, "wait_status", json_integer(s->wait_status));
	/* Nobody else will ever know it: not even a new supervisor, should this one die now. */
	supervisor_persist(s, false);
}

static void on_hello(struct supervisor *s, enum init_phase phase)
{
	auto_error struct error err = ERROR_INIT;

	loop_remove(s->init_timer);
	s->init_timer = NULL;
	s->mute = false;
	if (s->phase == PHASE_STARTING && phase == INIT_PHASE_WAITING) {
		start_on_hello(s);
		return;
	}
	if (phase != INIT_PHASE_WAITING && supervisor_released(s)) {
		if (!s->confirmed)
			start_confirm(s);
		return;
	}
	if (!supervisor_released(s) || s->confirmed || !s->adopted) {
		lost_connection(s, "it is in the wrong phase", true);
		return;
	}
	/* It never got `go` (§16.2): its supervisor died between the record and the message. */
	gate_disconnect(s);
	error_set(
		&err, ERROR_START_CANCELLED, "the supervisor died before the workload was let go");
	json_object_set_new(record_supervision(s->record), "released", json_false());
	finish_failed(s, "start_failed", &err);
}

static void on_message(struct supervisor *s, struct init_packet *packet)
{
	const struct init_message *m = &packet->message;

	switch (m->type) {
	case INIT_HELLO:
		on_hello(s, m->phase);
		break;
	case INIT_STARTED:
		start_on_started(s);
		break;
	case INIT_EXEC_FAILED:
		start_on_exec_failed(s, &m->failure);
		break;
	case INIT_EXIT:
		on_exit_message(s, m);
		break;
	case INIT_SIGNALLED:
		stop_on_signalled(s, m->signalled.signal, m->signalled.error);
		break;
	case INIT_SESSION_STARTED:
	case INIT_SESSION_FAILED:
	case INIT_SESSION_ENDED:
		attach_on_message(s, packet);
		break;
	default:
		/* The decoder lets no message of our own side pass. */
		break;
	}
	init_packet_drop_fds(packet);
}

static void on_init_readable(void *data, uint32_t events)
{
	struct supervisor *s = data;
	struct init_packet packet;

	(void)events;
	while (s->init_fd >= 0) {
		switch (init_socket_receive(s->init_fd, INIT_FROM_GUEST, &packet)) {
		case INIT_RECEIVED_NOTHING:
			return;
		case INIT_RECEIVED_MESSAGE:
			on_message(s, &packet);
			break;
		case INIT_RECEIVED_FAULT:
			lost_connection(s, init_fault_text(packet.fault), true);
			return;
		case INIT_RECEIVED_END:
		default:
			lost_connection(s, "the connection was closed", false);
			return;
		}
	}
}

static bool accept_peer(struct supervisor *s);

/* What it said last is still in the socket, or in one that was not accepted yet. */
static void hear_last_words(struct supervisor *s)
{
	struct init_packet packet;

	for (unsigned i = 0; i < PEERS_A_TURN && s->listen_fd >= 0 && accept_peer(s); i++)
		;
	while (s->init_fd >= 0 &&
		init_socket_receive(s->init_fd, INIT_FROM_GUEST, &packet) == INIT_RECEIVED_MESSAGE)
		on_message(s, &packet);
}

static void on_init_ended(void *data, uint32_t events)
{
	struct supervisor *s = data;
	auto_error struct error err = ERROR_INIT;

	(void)events;
	loop_remove(s->init_ended);
	s->init_ended = NULL;
	if (supervisor_released(s))
		hear_last_words(s);
	if (supervisor_released(s)) {
		finish_begin(s);
	} else if (s->phase == PHASE_STARTING) {
		error_set(&err, ERROR_INIT_FAILED,
			"the init of the sandbox ended before the workload started");
		start_fail(s, &err);
	}
}

int gate_hold_init(struct supervisor *s, pid_t pid)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (pidfd < 0)
		return -1;
	s->init_pidfd = pidfd;
	s->init_pid = pid;
	s->init_ended = loop_watch(s->loop, pidfd, EPOLLIN, on_init_ended, s);
	return 0;
}

void gate_release_init(struct supervisor *s)
{
	loop_remove(s->init_ended);
	s->init_ended = NULL;
	if (s->init_pidfd >= 0)
		close(s->init_pidfd);
	s->init_pidfd = -1;
	s->init_pid = 0;
}

/*
 * Takes the judged peer, and no more listening. One that was held before may be dead by now: what
 * it sent is there all the same.
 */
static int take_peer(struct supervisor *s, int fd, pid_t pid)
{
	if ((s->init_pidfd < 0 || s->init_pid != pid) && gate_hold_init(s, pid) < 0)
		return -1;
	s->init_fd = fd;
	gate_unlisten(s);
	s->init_source = loop_watch(s->loop, fd, EPOLLIN, on_init_readable, s);
	return 0;
}

static bool peer_is_init(struct supervisor *s, pid_t pid)
{
	auto_error struct error err = ERROR_INIT;
	struct verify v = {
		.pid = pid, .container_id = supervisor_container_id(s), .guest_fd = s->guest_fd};

	if (s->phase != PHASE_STARTING)
		return s->expected_pid > 0 && pid == s->expected_pid;
	return v.container_id[0] && verify_peer(&v, &err) == 0;
}

/* False: nobody waits to be accepted. */
static bool accept_peer(struct supervisor *s)
{
	struct ucred peer;
	socklen_t n = sizeof(peer);
	int fd = accept4(s->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return false;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) < 0 || !peer_is_init(s, peer.pid) ||
		take_peer(s, fd, peer.pid) < 0)
		close(fd);
	return true;
}

static void on_peer(void *data, uint32_t events)
{
	struct supervisor *s = data;

	(void)events;
	for (unsigned i = 0; i < PEERS_A_TURN && s->listen_fd >= 0 && accept_peer(s); i++)
		;
}

int gate_listen(struct supervisor *s, struct error *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	gate_unlisten(s);
	/* The run directory's path may be longer than sun_path. */
	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/sock", s->ctl_fd);
	s->listen_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	mode_t before = umask(0177);
	int r = s->listen_fd < 0 ? -1
				 : bind(s->listen_fd, (struct sockaddr *)&address, sizeof(address));
	umask(before);
	if (r < 0 || listen(s->listen_fd, 8) < 0)
		return error_set_errno(err, ERROR_HOME_UNUSABLE, errno,
			"making the socket in %s/ctl", s->run.path);
	if (!s->plan.runtime.rootless &&
		fchownat(s->ctl_fd, "sock", s->plan.uid, s->plan.gid, AT_SYMLINK_NOFOLLOW) < 0)
		return error_set_errno(
			err, ERROR_OWNER_NOT_SELF, errno, "giving the socket to the sandbox");
	s->listening = loop_watch(s->loop, s->listen_fd, EPOLLIN, on_peer, s);
	return 0;
}

int gate_send_go(struct supervisor *s, struct error *err)
{
	struct init_message go = {.type = INIT_GO};
	int fds[2] = {-1, -1};

	if (output_open_ends(&s->output, fds, err) < 0)
		return -1;
	int r = init_socket_send(s->init_fd, &go, fds);
	int reason = errno;
	close(fds[0]);
	close(fds[1]);
	if (r < 0)
		return error_set_errno(err, ERROR_INIT_FAILED, reason, "letting the workload go");
	return 0;
}

int gate_send_session(struct supervisor *s, const struct init_message *m, const int *fds)
{
	if (s->mute || s->init_fd < 0) {
		errno = ENOTCONN;
		return -1;
	}
	return init_socket_send(s->init_fd, m, fds);
}

int gate_send_signal(struct supervisor *s, int signal)
{
	struct init_message m = {.type = INIT_SIGNAL, .signal = (uint32_t)signal};

	if (s->mute || s->init_fd < 0)
		return -1;
	return init_socket_send(s->init_fd, &m, NULL);
}
