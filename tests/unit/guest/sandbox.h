/*
 * A little sandbox for the real init: a root of its own on a tmpfs, a pid namespace, an ordinary
 * uid, and the shim's end of the socket in the test's hands. Needs root. Everything goes away with
 * the test's mount namespace and with sandbox_end().
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "executor/container/init/init-socket.h"

enum { SANDBOX_UID = 65534, SANDBOX_WAIT_MS = 10000 };

struct sandbox {
	pid_t init; /* as the test sees it; 0: reaped */
	int listener;
	int shim;   /* the accepted connection; -1: none */
	int output; /* what the workload writes to 1 and 2 */
	int give;   /* the other end of it */
	struct init_packet packet;
};

/* The root at /mnt with GUEST in it; false if this process is not root. */
bool sandbox_prepare(const char *guest);

/* Starts /run/cloop/init with argv (its words after the name). `listening`: with the socket. */
void sandbox_start(struct sandbox *s, const char *const *argv, bool listening);
/* Another name of the same file (init-standalone, cloop), on the test's output as its stdio. */
void sandbox_start_as(struct sandbox *s, const char *program, const char *const *argv);
/* The socket, made when it was not there at the start. */
void sandbox_listen(struct sandbox *s);
/* Takes the next connection, and its hello, which has to be of that phase. */
void sandbox_accept(struct sandbox *s, enum init_phase phase);
void sandbox_hang_up(struct sandbox *s);
void sandbox_send(struct sandbox *s, const struct init_message *m, const int *fds);
/* `go` with both pipes, and `started`. */
void sandbox_go(struct sandbox *s);
void sandbox_signal(struct sandbox *s, uint32_t signal);
/* The next message, which has to be of that type. */
const struct init_message *sandbox_expect(struct sandbox *s, enum init_type type);
/* True when the connection ends before another message comes. */
bool sandbox_lost(struct sandbox *s);
/* Reads the output until it holds `text`. */
void sandbox_expect_output(struct sandbox *s, const char *text);
/* True when there is something to read, or the end, within SANDBOX_WAIT_MS. */
bool sandbox_readable(int fd);
/* How many processes live in the sandbox, the init too. */
unsigned sandbox_processes(const struct sandbox *s);
/* Waits for the end of the init; its exit status, or 128 + the signal. */
int sandbox_wait(struct sandbox *s);
/* The workload's first process, as the test sees it. */
pid_t sandbox_child(const struct sandbox *s);
/* Kills what is left. */
void sandbox_end(struct sandbox *s);
