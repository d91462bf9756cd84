/* Attach sessions of a run (container-driver.md §18). Internal header of this folder. */
#pragma once

#include "base/json.h"
#include "executor/container/init/init-socket.h"

struct attach_session;
struct supervisor;

enum { ATTACH_SESSIONS_MAX = 4 };

/* Control op `attach`: may it be? argv_*, attach_closed, attach_busy. */
must_check int attach_judge(void *data, const json_t *request, json_t **ret, struct error *err);
/* The connection after the answer. */
void attach_begin(void *data, const json_t *request, int fd, struct text early);
/* A session message of the init; takes descriptors out of the packet. */
void attach_on_message(struct supervisor *s, struct init_packet *packet);
/* The connection to the init is gone: nobody can speak of sessions any more. */
void attach_on_lost(struct supervisor *s);
/* Everything in the sandbox has ended. */
void attach_on_run_end(struct supervisor *s);
/* Calls fn(s) when what the clients still have to get is sent, or after a second. */
void attach_linger(struct supervisor *s, void (*fn)(void *));
void attach_done(struct supervisor *s);

/* For attach-session.c: the init is asked to close x, again and again if it does not listen. */
void attach_ask_close(struct attach_session *x);
/* x is done with: it is freed. */
void attach_release(struct attach_session *x);
