/*
 * What cloop-shim does; its main() only reads its arguments. One run per process.
 */
#pragma once

/*
 * Starts run `handle` of `home` (its request.json and status.json are there) and supervises it to
 * the end. lock_fd: RUN/lock, held. caller_fd: SOCK_SEQPACKET to the dispatcher, which sends one
 * message (see supervisor.c) and gets one answer: {"ok":true} when the workload runs, else the
 * error envelope. Its end before that cancels the start. Takes both. Returns the exit status.
 */
int supervise_start(const char *home, const char *handle, int lock_fd, int caller_fd);
/*
 * Takes a run over whose supervisor died (container-driver.md §16.2); 0 also when there is nothing
 * to do, because another one holds the lock or the record is final and nothing is left.
 */
int supervise_adopt(const char *home, const char *handle);
