#include "executor/container/init/init-message.h"

#include <string.h>

enum {
	HEADER = 8,
	ATTACH_FIXED = 24,
	ATTACH_FLAG_TTY = 1,
};

/* What of a message does not depend on its fields; the payload of attach has no one size. */
static const struct kind {
	enum init_type type;
	enum init_side from;
	bool session;
	uint16_t payload;
	const char *name;
} kinds[] = {
	{INIT_HELLO, INIT_FROM_GUEST, false, 4, "hello"},
	{INIT_STARTED, INIT_FROM_GUEST, false, 0, "started"},
	{INIT_EXEC_FAILED, INIT_FROM_GUEST, false, 8, "exec_failed"},
	{INIT_EXIT, INIT_FROM_GUEST, false, 32, "exit"},
	{INIT_SIGNALLED, INIT_FROM_GUEST, false, 8, "signalled"},
	{INIT_SESSION_STARTED, INIT_FROM_GUEST, true, 0, "session_started"},
	{INIT_SESSION_FAILED, INIT_FROM_GUEST, true, 8, "session_failed"},
	{INIT_SESSION_ENDED, INIT_FROM_GUEST, true, 8, "session_ended"},
	{INIT_GO, INIT_FROM_SHIM, false, 0, "go"},
	{INIT_SIGNAL, INIT_FROM_SHIM, false, 4, "signal"},
	{INIT_ATTACH, INIT_FROM_SHIM, true, ATTACH_FIXED, "attach"},
	{INIT_SESSION_CLOSE, INIT_FROM_SHIM, true, 0, "session_close"},
};

static const struct kind *find_kind(unsigned type)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if ((unsigned)kinds[i].type == type)
			return &kinds[i];
	return NULL;
}

static uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static uint32_t get32(const uint8_t *p)
{
	return get16(p) | (uint32_t)get16(p + 2) << 16;
}

static uint64_t get64(const uint8_t *p)
{
	return get32(p) | (uint64_t)get32(p + 4) << 32;
}

static void put16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
}

static void put32(uint8_t *p, uint32_t v)
{
	put16(p, v);
	put16(p + 2, v >> 16);
}

static void put64(uint8_t *p, uint64_t v)
{
	put32(p, (uint32_t)v);
	put32(p + 4, (uint32_t)(v >> 32));
}

bool init_wait_status_valid(uint32_t ws)
{
	uint32_t signal = ws & 0x7f;

	if (ws > 0xffff)
		return false;
	if ((ws & 0xff) == 0)
		return true;
	return signal >= 1 && signal <= 126 && ws >> 8 == 0;
}

int init_wait_status_code(uint32_t ws)
{
	return (ws & 0x7f) == 0 ? (int)(ws >> 8 & 0xff) : 128 + (int)(ws & 0x7f);
}

static bool signal_allowed(uint32_t n)
{
	static const uint8_t allowed[] = {1, 2, 3, 9, 10, 12, 15};

	for (size_t i = 0; i < sizeof(allowed); i++)
		if (allowed[i] == n)
			return true;
	return false;
}

static enum init_fault decode_hello(const uint8_t *p, struct init_message *m)
{
	if (p[1] || p[2] || p[3])
		return INIT_FAULT_RESERVED;
	if (p[0] > INIT_PHASE_ENDED)
		return INIT_FAULT_VALUE;
	m->phase = (enum init_phase)p[0];
	return INIT_FAULT_NONE;
}

static enum init_fault decode_failure(const uint8_t *p, struct init_message *m)
{
	uint32_t error = get32(p);

	if (get16(p + 6))
		return INIT_FAULT_RESERVED;
	if (error < 1 || error > INIT_ERRNO_MAX || p[4] > INIT_STEP_EXEC || p[5] > 1)
		return INIT_FAULT_VALUE;
	m->failure = (struct init_failure){error, (enum init_step)p[4], p[5] != 0};
	return INIT_FAULT_NONE;
}

static enum init_fault decode_exit(const uint8_t *p, struct init_message *m)
{
	uint64_t user = get64(p + 8), system = get64(p + 16), maxrss = get64(p + 24);

	if (get32(p + 4))
		return INIT_FAULT_RESERVED;
	if (!init_wait_status_valid(get32(p)) || (user | system | maxrss) >> 63)
		return INIT_FAULT_VALUE;
	m->exit.wait_status = get32(p);
	m->exit.user_us = user;
	m->exit.system_us = system;
	m->exit.maxrss_kib = maxrss;
	return INIT_FAULT_NONE;
}

static enum init_fault decode_signalled(const uint8_t *p, struct init_message *m)
{
	if (get32(p + 4) > INIT_ERRNO_MAX)
		return INIT_FAULT_VALUE;
	m->signalled.signal = get32(p);
	m->signalled.error = get32(p + 4);
	return INIT_FAULT_NONE;
}

static enum init_fault decode_ended(const uint8_t *p, struct init_message *m)
{
	if (!init_wait_status_valid(get32(p)))
		return INIT_FAULT_VALUE;
	m->ended.wait_status = get32(p);
	m->ended.left = get32(p + 4);
	return INIT_FAULT_NONE;
}

static enum init_fault decode_signal(const uint8_t *p, struct init_message *m)
{
	if (!signal_allowed(get32(p)))
		return INIT_FAULT_VALUE;
	m->signal = get32(p);
	return INIT_FAULT_NONE;
}

/* Length of the UTF-8 character at p, of `left` bytes; 0 for anything that is none. */
static size_t utf8_char(const uint8_t *p, size_t left)
{
	size_t n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;

	if (n > left || p[0] > 0xf4)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	bool overlong = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xf0 && p[1] < 0x90);
	bool surrogate = p[0] == 0xed && p[1] > 0x9f, too_high = p[0] == 0xf4 && p[1] > 0x8f;
	return overlong || surrogate || too_high ? 0 : n;
}

/* Exactly argc words of UTF-8, each with its NUL, the first not empty. */
static bool words_fit(const uint8_t *p, size_t len, unsigned argc)
{
	unsigned words = 0;

	if (len == 0 || p[0] == '\0' || p[len - 1] != '\0')
		return false;
	for (size_t i = 0, n; i < len; i += n) {
		n = utf8_char(p + i, len - i);
		if (n == 0)
			return false;
		words += p[i] == '\0';
	}
	return words == argc;
}

static enum init_fault decode_attach(const uint8_t *p, struct init_message *m)
{
	bool tty = p[0] & ATTACH_FLAG_TTY;
	uint16_t rows = get16(p + 2), cols = get16(p + 4), argv_len = get16(p + 6);

	if ((p[0] & ~ATTACH_FLAG_TTY) || (!tty && (rows || cols)))
		return INIT_FAULT_RESERVED;
	if (tty && (rows < 1 || cols < 1 || rows > INIT_TERMINAL_SIDE_MAX ||
			   cols > INIT_TERMINAL_SIDE_MAX))
		return INIT_FAULT_VALUE;
	if (p[1] < 1 || p[1] > INIT_ARGV_MAX || !words_fit(p + ATTACH_FIXED, argv_len, p[1]))
		return INIT_FAULT_VALUE;
	m->attach.tty = tty;
	m->attach.rows = rows;
	m->attach.cols = cols;
	m->attach.argc = p[1];
	m->attach.argv_len = argv_len;
	m->attach.argv = (const char *)p + ATTACH_FIXED;
	memcpy(m->attach.mark, p + 8, INIT_MARK_BYTES);
	return INIT_FAULT_NONE;
}

static enum init_fault decode_payload(const uint8_t *p, struct init_message *m)
{
	switch (m->type) {
	case INIT_HELLO:
		return decode_hello(p, m);
	case INIT_EXEC_FAILED:
	case INIT_SESSION_FAILED:
		return decode_failure(p, m);
	case INIT_EXIT:
		return decode_exit(p, m);
	case INIT_SIGNALLED:
		return decode_signalled(p, m);
	case INIT_SESSION_ENDED:
		return decode_ended(p, m);
	case INIT_SIGNAL:
		return decode_signal(p, m);
	case INIT_ATTACH:
		return decode_attach(p, m);
	case INIT_STARTED:
	case INIT_SESSION_STARTED:
	case INIT_GO:
	case INIT_SESSION_CLOSE:
		return INIT_FAULT_NONE;
	}
	return INIT_FAULT_TYPE;
}

static bool size_fits(const struct kind *k, const uint8_t *p, size_t len)
{
	if (k->type != INIT_ATTACH)
		return len == k->payload;
	return len >= ATTACH_FIXED && len == ATTACH_FIXED + (size_t)get16(p + 6);
}

static enum init_fault judge_header(
	enum init_side from, const uint8_t *p, size_t len, const struct kind **ret)
{
	if (len < HEADER)
		return INIT_FAULT_SHORT;
	if (len > INIT_MESSAGE_MAX)
		return INIT_FAULT_LONG;
	if (p[0] != INIT_MESSAGE_VERSION)
		return INIT_FAULT_VERSION;
	const struct kind *k = find_kind(p[1]);
	if (!k || k->from != from)
		return INIT_FAULT_TYPE;
	if (get16(p + 2))
		return INIT_FAULT_RESERVED;
	if ((get32(p + 4) != 0) != k->session)
		return INIT_FAULT_SESSION;
	if (!size_fits(k, p + HEADER, len - HEADER))
		return INIT_FAULT_SIZE;
	*ret = k;
	return INIT_FAULT_NONE;
}

enum init_fault init_message_decode(
	enum init_side from, const void *bytes, size_t len, size_t fds, struct init_message *ret)
{
	const uint8_t *p = bytes;
	const struct kind *k = NULL;
	enum init_fault fault = judge_header(from, p, len, &k);

	if (fault)
		return fault;
	struct init_message m = {.type = k->type, .session = get32(p + 4)};
	fault = decode_payload(p + HEADER, &m);
	if (fault)
		return fault;
	if (m.type == INIT_SESSION_STARTED)
		m.master = fds == 1;
	if (fds != init_message_fds(&m))
		return INIT_FAULT_FDS;
	*ret = m;
	return INIT_FAULT_NONE;
}

size_t init_message_fds(const struct init_message *m)
{
	switch (m->type) {
	case INIT_GO:
		return 2;
	case INIT_ATTACH:
		return m->attach.tty ? 0 : 3;
	case INIT_SESSION_STARTED:
		return m->master ? 1 : 0;
	case INIT_HELLO:
	case INIT_STARTED:
	case INIT_EXEC_FAILED:
	case INIT_EXIT:
	case INIT_SIGNALLED:
	case INIT_SESSION_FAILED:
	case INIT_SESSION_ENDED:
	case INIT_SIGNAL:
	case INIT_SESSION_CLOSE:
		return 0;
	}
	return 0;
}

static size_t encode_attach(const struct init_message *m, uint8_t *p)
{
	if (m->attach.argv_len > INIT_ARGV_BYTES_MAX)
		return 0;
	p[0] = m->attach.tty ? ATTACH_FLAG_TTY : 0;
	p[1] = m->attach.argc;
	put16(p + 2, m->attach.rows);
	put16(p + 4, m->attach.cols);
	put16(p + 6, m->attach.argv_len);
	memcpy(p + 8, m->attach.mark, INIT_MARK_BYTES);
	if (m->attach.argv_len > 0)
		memcpy(p + ATTACH_FIXED, m->attach.argv, m->attach.argv_len);
	return HEADER + ATTACH_FIXED + (size_t)m->attach.argv_len;
}

static void encode_fixed(const struct init_message *m, uint8_t *p)
{
	switch (m->type) {
	case INIT_HELLO:
		p[0] = (uint8_t)m->phase;
		return;
	case INIT_EXEC_FAILED:
	case INIT_SESSION_FAILED:
		put32(p, m->failure.error);
		p[4] = (uint8_t)m->failure.step;
		p[5] = m->failure.found;
		return;
	case INIT_EXIT:
		put32(p, m->exit.wait_status);
		put64(p + 8, m->exit.user_us);
		put64(p + 16, m->exit.system_us);
		put64(p + 24, m->exit.maxrss_kib);
		return;
	case INIT_SIGNALLED:
		put32(p, m->signalled.signal);
		put32(p + 4, m->signalled.error);
		return;
	case INIT_SESSION_ENDED:
		put32(p, m->ended.wait_status);
		put32(p + 4, m->ended.left);
		return;
	case INIT_SIGNAL:
		put32(p, m->signal);
		return;
	case INIT_STARTED:
	case INIT_SESSION_STARTED:
	case INIT_GO:
	case INIT_ATTACH:
	case INIT_SESSION_CLOSE:
		return;
	}
}

size_t init_message_encode(const struct init_message *m, uint8_t out[INIT_MESSAGE_MAX])
{
	const struct kind *k = find_kind(m->type);
	struct init_message back;

	if (!k)
		return 0;
	size_t len = HEADER + (size_t)k->payload;
	memset(out, 0, len);
	out[0] = INIT_MESSAGE_VERSION;
	out[1] = (uint8_t)m->type;
	put32(out + 4, m->session);
	if (m->type == INIT_ATTACH)
		len = encode_attach(m, out + HEADER);
	else
		encode_fixed(m, out + HEADER);
	if (init_message_decode(k->from, out, len, init_message_fds(m), &back) != INIT_FAULT_NONE)
		return 0;
	return len;
}

const char *init_type_text(enum init_type type)
{
	const struct kind *k = find_kind(type);

	return k ? k->name : "?";
}

static const char *word(const char *const *words, size_t n, unsigned i)
{
	return i < n ? words[i] : "?";
}

const char *init_phase_text(enum init_phase phase)
{
	static const char *const words[] = {"waiting", "running", "ended"};

	return word(words, 3, phase);
}

const char *init_step_text(enum init_step step)
{
	static const char *const words[] = {"fork", "setup", "exec"};

	return word(words, 3, step);
}

const char *init_fault_text(enum init_fault fault)
{
	static const char *const words[] = {"none", "short", "long", "version", "type", "reserved",
		"session", "size", "value", "fds"};

	return word(words, 10, fault);
}
