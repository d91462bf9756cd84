/*
 * The messages between the shim and the init of a sandbox (container-driver.md §23.3): one message
 * a SEQPACKET packet, little endian, judged field by field before anything is believed. Shared by
 * both sides: plain C, no heap, no error model, so that it builds against musl as well.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	INIT_MESSAGE_VERSION = 1,
	INIT_MESSAGE_MAX = 4096,
	INIT_MESSAGE_FDS_MAX = 3,
	INIT_MARK_BYTES = 16,
	INIT_ARGV_MAX = 64,
	INIT_ARGV_BYTES_MAX = 4064,
	INIT_TERMINAL_SIDE_MAX = 1000,
	INIT_ERRNO_MAX = 4095,
};

/* The path of the socket inside the sandbox. */
#define INIT_SOCKET_PATH "/run/cloop/ctl/sock"

enum init_side {
	INIT_FROM_GUEST,
	INIT_FROM_SHIM,
};

enum init_type {
	INIT_HELLO = 0x01,
	INIT_STARTED = 0x02,
	INIT_EXEC_FAILED = 0x03,
	INIT_EXIT = 0x04,
	INIT_SIGNALLED = 0x05,
	INIT_SESSION_STARTED = 0x06,
	INIT_SESSION_FAILED = 0x07,
	INIT_SESSION_ENDED = 0x08,
	INIT_GO = 0x41,
	INIT_SIGNAL = 0x42,
	INIT_ATTACH = 0x43,
	INIT_SESSION_CLOSE = 0x44,
};

enum init_phase {
	INIT_PHASE_WAITING,
	INIT_PHASE_RUNNING,
	INIT_PHASE_ENDED,
};

enum init_step {
	INIT_STEP_FORK,
	INIT_STEP_SETUP,
	INIT_STEP_EXEC,
};

/* Why a packet is no message; in the order in which they are looked for. */
enum init_fault {
	INIT_FAULT_NONE,
	INIT_FAULT_SHORT,
	INIT_FAULT_LONG,
	INIT_FAULT_VERSION,
	INIT_FAULT_TYPE,
	INIT_FAULT_RESERVED,
	INIT_FAULT_SESSION,
	INIT_FAULT_SIZE,
	INIT_FAULT_VALUE,
	INIT_FAULT_FDS,
};

/* Where a program could not be started, and why. */
struct init_failure {
	uint32_t error; /* errno, 1-4095 */
	enum init_step step;
	bool found; /* a file of that name was there */
};

#define INIT_LEFT_UNKNOWN UINT32_MAX

struct init_message {
	enum init_type type;
	uint32_t session; /* the five session messages: never 0; else 0 */
	union {
		enum init_phase phase;       /* hello */
		struct init_failure failure; /* exec_failed, session_failed */
		struct {
			uint32_t wait_status;
			uint64_t user_us, system_us, maxrss_kib; /* each < 2^63 */
		} exit;
		struct {
			uint32_t signal, error; /* error: errno, 0 = sent */
		} signalled;
		bool master; /* session_started: the terminal's master comes along */
		struct {
			uint32_t wait_status, left; /* left: or INIT_LEFT_UNKNOWN */
		} ended;
		uint32_t signal; /* signal: one of 1 2 3 9 10 12 15 */
		struct {
			bool tty;
			uint16_t rows, cols; /* tty: 1-1000 each, else 0 */
			uint8_t argc;        /* 1-64 */
			uint16_t argv_len;
			uint8_t mark[INIT_MARK_BYTES];
			const char *argv; /* argc words, each with its NUL; not owned */
		} attach;
	};
};

/*
 * Judges one packet of `len` bytes that came from `from` with `fds` descriptors. INIT_FAULT_NONE
 * fills *ret (its argv points into `bytes`); the first fault in the order of §23.3 leaves it alone.
 */
enum init_fault init_message_decode(
	enum init_side from, const void *bytes, size_t len, size_t fds, struct init_message *ret);
/*
 * The bytes of m: their number, 8 to INIT_MESSAGE_MAX, or 0 if m is none that the other side would
 * take (a field out of range, words too long).
 */
size_t init_message_encode(const struct init_message *m, uint8_t out[INIT_MESSAGE_MAX]);
/* How many descriptors have to go with m. */
size_t init_message_fds(const struct init_message *m);

/* A wait status as §13.2 counts it: of 16 bits, and it says exited or killed. */
bool init_wait_status_valid(uint32_t wait_status);
/* The exit code, or 128 + the signal; of a valid status. */
int init_wait_status_code(uint32_t wait_status);

/* Words of the reference; never NULL ("?" for what is none). */
const char *init_type_text(enum init_type type);
const char *init_phase_text(enum init_phase phase);
const char *init_step_text(enum init_step step);
const char *init_fault_text(enum init_fault fault);
