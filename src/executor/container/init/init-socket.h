/*
 * Messages over the socket between shim and init, with their descriptors (container-driver.md
 * §23.3). Works on either side; knows no heap and no error model.
 */
#pragma once

#include "executor/container/init/init-message.h"

enum init_received {
	INIT_RECEIVED_MESSAGE,
	INIT_RECEIVED_NOTHING, /* a socket that does not block has none waiting */
	INIT_RECEIVED_END,     /* the other side is gone, or `error` says why it cannot be read */
	INIT_RECEIVED_FAULT,   /* `fault`: not a message; the connection must be closed */
};

/* One received packet. The descriptors are the receiver's: take them (set to -1) or drop them. */
struct init_packet {
	struct init_message message; /* attach.argv points into `bytes`: not to be copied away */
	int fds[INIT_MESSAGE_FDS_MAX];
	enum init_fault fault;
	int error; /* errno, 0 = end of stream */
	uint8_t bytes[INIT_MESSAGE_MAX + 1];
};

/*
 * Sends m with exactly init_message_fds(m) descriptors (they stay the caller's; NULL for none). 0,
 * or -1 with errno: EINVAL for a message that cannot be, EAGAIN if the peer does not read. Never
 * blocks, never raises SIGPIPE.
 */
int init_socket_send(int socket, const struct init_message *m, const int *fds);
/*
 * Reads one packet that the side `from` sent; does not block. Descriptors are CLOEXEC; after
 * anything but INIT_RECEIVED_MESSAGE none is left open and all of `fds` are -1.
 */
enum init_received init_socket_receive(int socket, enum init_side from, struct init_packet *p);
/* Closes what is left in p->fds. */
void init_packet_drop_fds(struct init_packet *p);
