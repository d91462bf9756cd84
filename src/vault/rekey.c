/*
 * Two transactions. The first makes the new key the primary, the old one `active`, and seals every
 * data key anew; before it is committed a new key file lies on the disk, under a name of its own.
 * The second puts that file in place and retires the old key. In between, whoever opens the secrets
 * tries both files (kek.c), and the next one to change keys does what the second did not.
 */
#include "vault/rekey.h"

#include "base/json.h"
#include "base/mem.h"
#include "store/audit.h"
#include "store/query.h"
#include "store/secret.h"
#include "sys/log.h"
#include "vault/dek.h"
#include "vault/kek.h"
#include "vault/key-file.h"
#include "vault/seal.h"

enum { SECRETS_MAX = 1000000 };

struct rekey {
	struct store *store;
	const char *home;
	struct kek old, new;
	bool write_file; /* the new key needs a file */
};

static void rekey_done(struct rekey *r)
{
	kek_done(&r->old);
	kek_done(&r->new);
}

static enum store_kek_source target(const struct rekey *r, enum rekey_to to)
{
	if (to == REKEY_SAME)
		return r->old.row.source;
	return to == REKEY_TO_KEY_FILE ? STORE_KEK_KEY_FILE : STORE_KEK_PASSPHRASE;
}

/* Argon2 takes its time, so this comes before any lock. */
static int make_key(struct rekey *r, enum store_kek_source source, struct error *err)
{
	AUTO(locked) key = LOCKED_INIT;
	int found = 1;

	if (source == STORE_KEK_KEY_FILE && r->old.row.source == STORE_KEK_PASSPHRASE)
		found = key_file_read(r->home, KEY_FILE_NOW, &key, err);
	if (found < 0)
		return -1;
	r->write_file = source == STORE_KEK_KEY_FILE && found > 0;
	if (found > 0)
		return kek_new(source, &r->new, err);
	kek_new_of(source, &key, &r->new);
	return 0;
}

static int check_primary(const struct rekey *r, const struct kek *k, struct error *err)
{
	int other = kek_is_primary(r->store, k, err);

	return other > 0 ? error_set(err, ERROR_STORE_BUSY,
				   "another process gave the secrets a new key at the same time")
			 : other;
}

static void keep_id(void *ids, const struct store_secret *row)
{
	strv_add(ids, row->id);
}

static int seal_anew(const struct rekey *r, const char *id, struct error *err)
{
	AUTO(store_secret_sealed) sealed = STORE_SECRET_SEALED_INIT;
	AUTO(str) dek = STR_INIT(STORE_SECRET_DEK_MAX);
	AUTO(locked) key = LOCKED_INIT;

	int found = store_secret_find_sealed(r->store, id, &sealed, err);
	if (found < 0)
		return -1;
	if (found > 0 || strcmp(sealed.kek, r->old.row.id) != 0)
		return dek_refuse(id, err);
	if (dek_open(&r->old, id, seal_bytes(&sealed.dek), &key, err) < 0)
		return -1;
	dek_seal(&r->new, id, &key, &dek);
	return store_secret_set_dek(r->store, id, r->new.row.id, seal_bytes(&dek), err);
}

static int seal_all(const struct rekey *r, size_t *ret_n, struct error *err)
{
	AUTO(strv) ids = STRV_INIT(SECRETS_MAX);

	if (store_secret_list(r->store, keep_id, &ids, err) < 0)
		return -1;
	for (size_t i = 0; i < ids.n; i++)
		if (seal_anew(r, ids.v[i], err) < 0)
			return -1;
	*ret_n = ids.n;
	return 0;
}

static int add_audit(
	const struct rekey *r, const struct rekey_done *done, const char *actor, struct error *err)
{
	auto_json *payload = json_pack("{s:s, s:s, s:s, s:s, s:I}", "kek", done->kek, "old_kek",
		r->old.row.id, "from", store_kek_source_text(done->from), "to",
		store_kek_source_text(done->to), "secrets", (json_int_t)done->secrets);
	struct store_audit_event event = {"secret.rekey", "kek", actor, payload};

	return store_audit_add(r->store, &event, err);
}

static int clean_up(const struct rekey *r, struct error *err)
{
	if (check_primary(r, &r->old, err) < 0 || kek_settle(r->home, &r->old.row, err) < 0 ||
		store_kek_retire_unused(r->store, err) < 0)
		return -1;
	return store_kek_delete_unused(r->store, err);
}

static int change_rows(
	const struct rekey *r, const char *actor, struct rekey_done *ret, struct error *err)
{
	if ((r->write_file && key_file_write_next(r->home, &r->new.key, err) < 0) ||
		kek_point("rekey:file", err) < 0 ||
		store_kek_set_state(r->store, r->old.row.id, STORE_KEK_ACTIVE, err) < 0 ||
		store_kek_insert(r->store, &r->new.row, err) < 0 ||
		seal_all(r, &ret->secrets, err) < 0 || add_audit(r, ret, actor, err) < 0)
		return -1;
	return kek_point("rekey:rows", err);
}

static int change(
	const struct rekey *r, const char *actor, struct rekey_done *ret, struct error *err)
{
	AUTO(query_transaction) t = QUERY_TRANSACTION_INIT;
	auto_error struct error ignored = ERROR_INIT;

	if (query_begin(r->store, &t, err) < 0 || clean_up(r, err) < 0)
		return -1;
	if (change_rows(r, actor, ret, err) < 0) {
		if (r->write_file && key_file_remove(r->home, KEY_FILE_NEXT, &ignored) < 0)
			log_warning("a key that is not used stays behind: %s", ignored.message);
		return -1;
	}
	/* A commit that fails may still be found on the disk: from here on the file has to stay. */
	return query_commit(&t, err);
}

static int retire(const struct rekey *r, struct error *err)
{
	AUTO(query_transaction) t = QUERY_TRANSACTION_INIT;
	bool leaves_file = r->old.row.source == STORE_KEK_KEY_FILE &&
			   r->new.row.source == STORE_KEK_PASSPHRASE;

	if (kek_point("rekey:committed", err) < 0 || query_begin(r->store, &t, err) < 0 ||
		check_primary(r, &r->new, err) < 0 || kek_settle(r->home, &r->new.row, err) < 0 ||
		kek_point("rekey:placed", err) < 0)
		return -1;
	if (leaves_file && key_file_remove(r->home, KEY_FILE_NOW, err) < 0)
		return -1;
	if (store_kek_retire_unused(r->store, err) < 0 || kek_point("rekey:retired", err) < 0)
		return -1;
	return query_commit(&t, err);
}

int rekey_run(struct store *s, const char *home, enum rekey_to to, const char *actor,
	struct rekey_done *ret, struct error *err)
{
	AUTO(rekey) r = {.store = s, .home = home};
	auto_error struct error late = ERROR_INIT;
	struct rekey_done done = {.secrets = 0};

	int found = kek_open(s, home, &r.old, err);
	if (found != 0)
		return found < 0 ? -1 : REKEY_EMPTY;
	done.from = r.old.row.source;
	done.to = target(&r, to);
	if (make_key(&r, done.to, err) < 0)
		return -1;
	memcpy(done.kek, r.new.row.id, sizeof(done.kek));
	if (store_erase(s, err) < 0 || change(&r, actor, &done, err) < 0)
		return -1;
	/* What was sealed anew is; the rest is done by the next one, too. */
	if (retire(&r, &late) < 0)
		log_warning("the old key is not retired yet: %s", late.message);
	store_fold_log(s);
	*ret = done;
	return 0;
}
