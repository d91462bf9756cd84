/*
 * The lock of a shared network, SOCKETS/net-TABLE.lock (network.md §9.4): open file description
 * locks on two of its bytes, so that who starts on the network can also wait for its table.
 */
#pragma once

#include <stdbool.h>

#include "base/error.h"

enum network_lock_part {
	NETWORK_LOCK_USERS, /* shared: somebody is about to join; exclusive: it is being removed */
	NETWORK_LOCK_TABLE, /* exclusive: the table is being replaced; shared: its note is read */
};

/* Opens (makes, 0600) the file of a table; a descriptor, or -1. */
must_check int network_lock_open(int sockets, const char *table, struct error *err);
/* Never waits. 0 held; 1 somebody else is in the way; 2 the file was removed: open it again; -1. */
must_check int network_lock_try(
	int fd, enum network_lock_part part, bool exclusive, struct error *err);
void network_lock_drop(int fd, enum network_lock_part part);
/*
 * Opens it and holds both parts exclusively, without waiting: a descriptor, or -1, without an error
 * where somebody is in the way.
 */
must_check int network_lock_alone(int sockets, const char *table, struct error *err);
/*
 * Removes the file of a network that nobody is on at the moment, and with `note` the note, too;
 * without, a file that has one stays.
 */
void network_lock_sweep(int sockets, const char *table, bool note);
/* Removes the file and the note: only for who holds both parts exclusively. */
void network_lock_remove(int sockets, const char *table);

/* The fingerprint that the table must have, SOCKETS/net-TABLE.fp. */
enum { NETWORK_LOCK_NOTE_SIZE = 65 };
must_check int network_lock_write_note(
	int sockets, const char *table, const char *fingerprint, struct error *err);
/* False: there is none. */
bool network_lock_read_note(int sockets, const char *table, char out[NETWORK_LOCK_NOTE_SIZE]);
