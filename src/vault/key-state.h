/* Which key opens the secrets, and what may be done when none is there (disk-and-secrets.md §13).
 */
#pragma once

#include "store/kek.h"

/* What is in hand. */
struct key_state_have {
	bool passphrase; /* CLOOP_SECRET_KEY is set */
	bool key_file;   /* HOME/keys/secret.key exists */
};

enum key_state_action {
	KEY_STATE_OPEN,            /* with the key of the row */
	KEY_STATE_MINT_PRIMARY,    /* the first key, from what is in hand */
	KEY_STATE_CREATE_KEY_FILE, /* the first key, and its file */
};
struct key_state {
	enum key_state_action action;
	size_t primary;               /* index of its row: KEY_STATE_OPEN */
	enum store_kek_source source; /* of the key, whatever the action */
};

/*
 * The decision. secret_key_state: several primaries, or rows without one; secret_key_missing: the
 * primary's source is not in hand. Whether the key is the right one is the next question.
 */
must_check int key_state_decide(const struct store_kek *rows, size_t n,
	const struct key_state_have *have, struct key_state *ret, struct error *err);
/* Fills err: the check of the key did not open (secret_key_wrong). Always -1. */
int key_state_wrong(enum store_kek_source source, struct error *err);
