#include "executor/container/supervise/guard.h"

#include <errno.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#include "executor/container/network/network-line.h"
#include "executor/container/network/nft-call.h"
#include "executor/container/supervise/mask.h"
#include "executor/container/supervise/network-port.h"
#include "executor/container/supervise/network-shared.h"
#include "executor/container/supervise/supervisor.h"
#include "sys/clock.h"
#include "sys/log.h"

enum {
	EVERY_MS = 10000,
	SOON_MS = 50, /* what one transaction changes comes as many messages */
	FAILED_AGAIN_MS = 1000,
	FAILURES_MAX = 3,
	CUT_TIMEOUT_MS = 10000,
};

static void look(void *data);

static void look_in(struct supervisor *s, int64_t ms)
{
	loop_remove(s->guard.timer);
	s->guard.soon = ms <= SOON_MS;
	s->guard.timer = loop_at(s->loop, clock_boottime_ms() + ms, look, s);
}

static void drain(struct supervisor *s)
{
	char bytes[4096];

	/* ENOBUFS says that messages were lost: one more reason to look. */
	while (recv(s->guard.fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0 || errno == EINTR ||
		errno == ENOBUFS)
		errno = 0;
}

static void on_message(void *data, uint32_t events)
{
	struct supervisor *s = data;

	(void)events;
	drain(s);
	s->guard.again = true;
	/* Never put off: messages that come all the time must not keep it from looking. */
	if (!s->guard.check && !s->guard.soon)
		look_in(s, SOON_MS);
}

int guard_begin(struct supervisor *s, struct error *err)
{
	struct sockaddr_nl address = {
		.nl_family = AF_NETLINK, .nl_groups = 1U << (NFNLGRP_NFTABLES - 1)};

	if (s->guard.fd >= 0)
		return 0;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_NETFILTER);
	if (fd < 0)
		return error_set_errno(
			err, ERROR_NFT_UNAVAILABLE, errno, "opening a netlink socket");
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		error_set_errno(err, ERROR_NFT_UNAVAILABLE, errno, "listening to changes of nft");
		close(fd);
		return -1;
	}
	s->guard.fd = fd;
	return 0;
}

void guard_forget(struct supervisor *s)
{
	if (s->guard.fd >= 0)
		drain(s);
}

void guard_arm(struct supervisor *s)
{
	if (s->guard.fd >= 0)
		s->guard.source = loop_watch(s->loop, s->guard.fd, EPOLLIN, on_message, s);
	look_in(s, s->adopted ? 0 : EVERY_MS);
}

static void stop_looking(struct supervisor *s)
{
	loop_remove(TAKE_PTR(s->guard.source));
	loop_remove(TAKE_PTR(s->guard.timer));
	engine_call_cancel(TAKE_PTR(s->guard.check));
	if (s->guard.fd >= 0)
		close(TAKE_FD(s->guard.fd));
}

void guard_end(struct supervisor *s)
{
	stop_looking(s);
	engine_call_cancel(TAKE_PTR(s->guard.cut));
}

/* ---- Lost ---- */

/* Only loopback is left in the sandbox, and its program goes on: that stays so. */
static void note_cut(struct supervisor *s)
{
	auto_error struct error err = ERROR_INIT;

	s->network.lost = true;
	if (network_write(s, &err) < 0)
		log_warning("%s", err.message);
}

/* Nobody holds the sandbox to its filter, and it cannot be cut off: it must not go on. */
static void kill_run(struct supervisor *s, const char *words)
{
	auto_error struct error err = ERROR_INIT;

	error_set(&err, ERROR_EGRESS_FILTER_LOST,
		"egress filter lost, and the sandbox could not be taken off its network: %s",
		words);
	record_set_error(s->record, &err);
	stop_request(s, "cancelled", 0);
}

static void on_cut(void *data, const struct engine_answer *answer)
{
	struct supervisor *s = data;

	s->guard.cut = NULL;
	if (s->network.lost)
		return;
	if (answer->exit_code == 0) {
		note_cut(s);
		return;
	}
	auto_free char *words = mask_words(s, answer->stderr_text);
	kill_run(s, quoted_string(words));
}

static void cut_off(struct supervisor *s)
{
	auto_error struct error err = ERROR_INIT, why = ERROR_INIT;
	AUTO(strv) words = STRV_INIT(NETWORK_LINE_WORDS_MAX);

	network_line_disconnect(s->plan.network.name, supervisor_container(s), &words);
	s->guard.cut = supervisor_engine_line(s, &words, CUT_TIMEOUT_MS, on_cut, &err);
	/*
	 * Meanwhile by ourselves, which is faster; and podman 4.3.1 with CNI fails to disconnect
	 * where its own rules were flushed, too.
	 */
	if (network_port_cut(s, &why) == 0) {
		note_cut(s);
		return;
	}
	log_warning("%s", why.message);
	if (!s->guard.cut)
		kill_run(s, err.message);
}

static void lose(struct supervisor *s, const char *why)
{
	auto_error struct error err = ERROR_INIT;

	stop_looking(s);
	if (s->phase == PHASE_STARTING) {
		error_set(&err, ERROR_EGRESS_FILTER_LOST, "the egress filter was lost: %s", why);
		start_fail(s, &err);
		return;
	}
	if (!supervisor_released(s))
		return;
	record_warn(s->record, "egress_filter_lost",
		"the egress filter was lost (%s), and the sandbox was taken off its network; a "
		"reload of another firewall that flushes the whole ruleset does that",
		why);
	supervisor_note(s, "the egress filter was lost: the sandbox has no network any more");
	supervisor_persist(s, false);
	cut_off(s);
}

/* ---- Looking ---- */

static void failed(struct supervisor *s)
{
	if (++s->guard.failures < FAILURES_MAX)
		look_in(s, FAILED_AGAIN_MS);
	else
		lose(s, "nft does not say what is applied");
}

static void judge(struct supervisor *s, const char *fingerprint)
{
	int r = strcmp(fingerprint, s->network.fingerprint) == 0 ? 0
		: s->plan.network.shared ? network_shared_expected(s, fingerprint)
					 : -1;

	if (r < 0) {
		lose(s, "its table was changed");
		return;
	}
	s->guard.failures = 0;
	look_in(s, r > 0 || s->guard.again ? SOON_MS : EVERY_MS);
}

static void on_listed(void *data, const struct engine_answer *answer)
{
	struct supervisor *s = data;
	auto_error struct error err = ERROR_INIT;
	char fingerprint[SHA256_HEX_SIZE];

	s->guard.check = NULL;
	if (answer->exit_code != 0 && nft_call_says_missing(answer->stderr_text)) {
		lose(s, "its table is gone");
	} else if (answer->exit_code != 0 ||
		   nft_listing_fingerprint(answer->out, fingerprint, &err) < 0) {
		failed(s);
	} else {
		judge(s, fingerprint);
	}
}

static void look(void *data)
{
	struct supervisor *s = data;
	auto_error struct error err = ERROR_INIT;
	AUTO(strv) argv = STRV_INIT(NFT_CALL_WORDS_MAX);

	s->guard.timer = NULL;
	s->guard.soon = s->guard.again = false;
	nft_call_list_words(s->plan.network.table_name, &argv);
	struct engine_call_spec spec = {
		.path = nft_call_program(),
		.argv = argv.v,
		.env = nft_call_env(),
		.fd3 = -1,
		.timeout_ms = NFT_CALL_TIMEOUT_MS,
		.out_max = NFT_LISTING_TABLE_MAX,
	};
	s->guard.check = spec.path ? engine_call_start(s->loop, &spec, on_listed, s, &err) : NULL;
	if (!s->guard.check)
		failed(s);
}
