/*
 * What the owner of a proxy asks for (egress/owner.h): one JSON object a message of a
 * SOCK_SEQPACKET socket. Its members `op` and `seq`, then:
 *
 * - open: a session (egress_session_to_json), listener, handle, project, executor_id, subject
 * - renew: session, deadline_boottime_ms
 * - close: session, reason. Answer: bytes_up, bytes_down, connections, or known: false
 * - add_listener: id, with the socket by SCM_RIGHTS
 * - remove_listener: id
 * - stats. Answer: sessions
 * - stop
 *
 * The answer: {"ok":true,…} or the envelope of an error, with the request's seq.
 */
#pragma once

#include "egress/proxy/state.h"

enum { CONTROL_MESSAGE_MAX = 1 << 18 };

must_check int control_begin(struct proxy *p, struct error *err);
