/*
 * A packet between shim and init, from either side: what is accepted is in range, is written back
 * byte for byte, and is accepted in no other length, from no other side, with no other number of
 * descriptors. And any message that is written is read back as it was.
 */
#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "executor/container/init/init-message.h"

enum { FDS_TRIED = 5 };

static void check_words(const struct init_message *m)
{
	struct text rest = {m->attach.argv, m->attach.argv_len}, word;
	unsigned words = 0;

	assert(m->attach.argc >= 1 && m->attach.argc <= INIT_ARGV_MAX);
	assert(rest.len <= INIT_ARGV_BYTES_MAX && utf8_valid(rest));
	while (text_split(&rest, '\0', &word) && rest.p)
		assert(words++ > 0 || word.len > 0);
	assert(words == m->attach.argc && word.len == 0);
}

static void check_range(const struct init_message *m)
{
	uint16_t sides[] = {m->attach.rows, m->attach.cols};

	switch (m->type) {
	case INIT_EXIT:
		assert(init_wait_status_valid(m->exit.wait_status));
		assert(m->exit.user_us >> 63 == 0 && m->exit.maxrss_kib >> 63 == 0);
		return;
	case INIT_SESSION_ENDED:
		assert(init_wait_status_valid(m->ended.wait_status));
		assert(init_wait_status_code(m->ended.wait_status) <= 128 + 126 ||
			(m->ended.wait_status & 0x7f) == 0);
		return;
	case INIT_EXEC_FAILED:
	case INIT_SESSION_FAILED:
		assert(m->failure.error >= 1 && m->failure.error <= INIT_ERRNO_MAX);
		return;
	case INIT_ATTACH:
		check_words(m);
		for (int i = 0; i < 2; i++)
			assert(m->attach.tty ? sides[i] >= 1 && sides[i] <= 1000 : sides[i] == 0);
		return;
	default:
		return;
	}
}

static void check_accepted(
	enum init_side from, const uint8_t *p, size_t len, size_t fds, const struct init_message *m)
{
	uint8_t again[INIT_MESSAGE_MAX], longer[INIT_MESSAGE_MAX + 1] = {0};
	struct init_message other;
	enum init_side wrong = from == INIT_FROM_GUEST ? INIT_FROM_SHIM : INIT_FROM_GUEST;

	assert(len >= 8 && len <= INIT_MESSAGE_MAX && init_message_fds(m) == fds);
	check_range(m);
	assert(init_message_encode(m, again) == len && memcmp(again, p, len) == 0);
	assert(init_message_decode(wrong, p, len, fds, &other) == INIT_FAULT_TYPE);
	assert(init_message_decode(from, p, len - 1, fds, &other) != INIT_FAULT_NONE);
	memcpy(longer, p, len);
	assert(init_message_decode(from, longer, len + 1, fds, &other) != INIT_FAULT_NONE);
}

static void check_packet(enum init_side from, const uint8_t *p, size_t len)
{
	unsigned accepted = 0, wrong_fds = 0;
	struct init_message m;

	for (size_t fds = 0; fds < FDS_TRIED; fds++) {
		enum init_fault fault = init_message_decode(from, p, len, fds, &m);
		wrong_fds += fault == INIT_FAULT_FDS;
		if (fault != INIT_FAULT_NONE)
			continue;
		accepted++;
		check_accepted(from, p, len, fds, &m);
	}
	/* Descriptors are judged last: any other fault is there whatever their number. */
	assert(accepted + wrong_fds == FDS_TRIED || (accepted == 0 && wrong_fds == 0));
	assert(accepted == 0 || accepted == (m.type == INIT_SESSION_STARTED ? 2 : 1));
}

/* A message with the input's bytes in its fields, in range or not. */
static void check_written(const uint8_t *p, size_t len)
{
	struct init_message m = {0}, back;
	uint8_t out[INIT_MESSAGE_MAX];

	if (len < 64)
		return;
	m.type = (enum init_type)(p[0] & 0x47);
	m.session = p[1] & 1;
	if (m.type == INIT_ATTACH) {
		m.attach.tty = p[2] & 1;
		m.attach.rows = p[3];
		m.attach.cols = p[4];
		m.attach.argc = p[5] & 3;
		m.attach.argv = (const char *)p + 6;
		m.attach.argv_len = (uint16_t)(len - 6 > UINT16_MAX ? UINT16_MAX : len - 6);
	} else {
		memcpy(&m.exit, p + 8, sizeof(m.exit));
		if (m.type == INIT_EXEC_FAILED || m.type == INIT_SESSION_FAILED)
			m.failure.found = p[2] & 1; /* any other byte is no bool */
		m.master = m.type == INIT_SESSION_STARTED && (p[8] & 1);
	}
	size_t n = init_message_encode(&m, out);
	if (n == 0)
		return;
	enum init_side from = m.type < INIT_GO ? INIT_FROM_GUEST : INIT_FROM_SHIM;
	assert(init_message_decode(from, out, n, init_message_fds(&m), &back) == INIT_FAULT_NONE);
	check_accepted(from, out, n, init_message_fds(&m), &back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_packet(INIT_FROM_GUEST, data, size);
	check_packet(INIT_FROM_SHIM, data, size);
	check_written(data, size);
	return 0;
}
