/*
 * Reads what the argv builder gets, as an `argv` case writes it (container-driver.md §1).
 */
#pragma once

#include "base/json.h"
#include "executor/container/options.h"
#include "executor/container/request.h"
#include "executor/container/runtime.h"

struct request_input {
	struct runtime runtime;
	struct container_options options; /* normalized */
	struct container_request request;
	struct request_host host;
	void *memory[16]; /* of the lists */
	size_t n_memory;
};
void request_input_done(struct request_input *in);
/*
 * From an object with members runtime, options, spec and host. Texts are borrowed from it. Fails
 * with the error of the options, or `usage` for an object that is none.
 */
must_check int request_input_read(json_t *object, struct request_input *ret, struct error *err);
