/*
 * The environment of a host process on its way: a launch block (container/launch.h) in a sealed
 * memfd, from dispatch to the supervisor to the process itself; never a file.
 */
#pragma once

#include "executor/container/launch.h"

/* A descriptor with the block; -1 + err. env: NAME=VALUE. */
must_check int local_launch_write(const struct strv *env, struct error *err);
/* Reads it from its start, as often as wanted. shim_failed when it is not one. */
must_check int local_launch_read(int fd, struct launch *ret, struct error *err);
/* Takes the descriptor that handover_send() sent; -1 + err (start_cancelled: nobody is there). */
must_check int local_launch_receive(int socket, struct error *err);
