/*
 * Secrets at rest (disk-and-secrets.md §13): each payload is sealed with a key of its own (DEK),
 * and that one with the primary key (KEK), which comes from CLOOP_SECRET_KEY or
 * HOME/keys/secret.key. Rows are the store's (store/secret.h, store/kek.h).
 */
#pragma once

#include "base/error.h"
#include "vault/locked.h"
#include "vault/secret-kind.h"

struct store;
struct store_secret;
struct vault;

/* The positive outcome of vault_open(). */
enum { VAULT_EMPTY = 1 };
enum { VAULT_PAYLOAD_MAX = 256 << 10 };

/*
 * Opens the primary key of a home whose store is open (it must outlive the vault): 0, or
 * VAULT_EMPTY = nothing was ever sealed, and no key is made. With a passphrase it takes half a
 * second and 256 MiB: open it once, and only when there is something to read. Errors, none of which
 * changes a thing: secret_key_missing, secret_key_wrong, secret_key_state, out_of_memory, those of
 * the store. From here on the process leaves no core dump (vault/locked.h).
 */
must_check int vault_open(struct store *s, const char *home, struct vault **ret, struct error *err);
void vault_free(struct vault *v);
DEFINE_AUTO_PTR(vault)

/*
 * The payload of a secret by its id, and its kind, which the seal vouches for. *ret is LOCKED_INIT
 * or something older, which is wiped; read it in place and copy as little of it as you can.
 * secret_not_found; secret_store: the row does not open, because it was damaged, changed, or is
 * another row's.
 */
must_check int vault_read(struct vault *v, const char *secret_id, enum secret_kind *ret_kind,
	struct locked *ret, struct error *err);

/*
 * A new secret: `row` has name, kind, created_by and what `secret mint` sets; id and created_at are
 * filled in by the store's row. The payload is sealed as it is (whoever calls has checked it); its
 * id goes to ret_id. Where nothing was ever sealed the first key is made. The row and its audit row
 * secret.mint are on the disk together when this returns. secret_exists, and as vault_open().
 */
enum { VAULT_SECRET_ID_SIZE = 29 };
must_check int vault_mint(struct store *s, const char *home, const struct store_secret *row,
	struct text payload, char ret_id[VAULT_SECRET_ID_SIZE], struct error *err);

/*
 * Deletes a secret by name, with its audit row secret.delete; what was sealed is overwritten in the
 * file. Needs no key. secret_not_found.
 */
must_check int vault_delete(
	struct store *s, const char *name, const char *actor, struct error *err);
