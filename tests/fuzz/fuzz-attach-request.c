/*
 * The request for an attach session: what is taken has as many words as it says, each with its NUL
 * and of UTF-8, the first not empty, within the limits of the message to the init, and the size of
 * a terminal only with one.
 */
#include <assert.h>

#include "executor/container/decisions/attach-request.h"
#include "executor/container/init/init-message.h"
#include "json-mutate.h"

static void check(const struct attach_request *r)
{
	struct init_message m = {.type = INIT_ATTACH, .session = 1}, again;
	uint8_t bytes[INIT_MESSAGE_MAX];

	m.attach.tty = r->tty;
	m.attach.rows = r->rows;
	m.attach.cols = r->cols;
	m.attach.argc = r->argc;
	m.attach.argv_len = r->argv_len;
	m.attach.argv = r->argv;
	/* The other side's own judge takes it. */
	size_t n = init_message_encode(&m, bytes);
	assert(n > 0);
	assert(init_message_decode(INIT_FROM_SHIM, bytes, n, init_message_fds(&m), &again) ==
		INIT_FAULT_NONE);
	assert(r->argv[0] != '\0' && utf8_valid((struct text){r->argv, r->argv_len}));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_error struct error err = ERROR_INIT;
	auto_json *request = json_read(
		(struct text){(const char *)data, size}, 65536, "request", ERROR_USAGE, &err);
	struct attach_request r;

	if (request && attach_request_read(request, &r, &err) == 0)
		check(&r);
	return 0;
}
