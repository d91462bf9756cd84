/*
 * The first key and its row cannot be made in one step, since a key file is no row. So the file
 * comes first, while the store's write lock is held: a crash in between leaves a key file without
 * rows, from which the next attempt mints the primary. rekey.c has the same order for another key.
 */
#include "vault/kek.h"

#include <sodium.h>

#include "base/str.h"
#include "store/query.h"
#include "sys/fault.h"
#include "sys/log.h"
#include "vault/kdf.h"
#include "vault/key-file.h"
#include "vault/key-state.h"
#include "vault/passphrase.h"
#include "vault/seal.h"

void kek_done(struct kek *k)
{
	locked_done(&k->key);
	*k = KEK_INIT;
}

int kek_point(const char *point, struct error *err)
{
	return fault_hit(point) ? error_set(err, ERROR_IO, "made to fail at %s", point) : 0;
}

static bool opens(const struct store_kek *row, const struct locked *key)
{
	AUTO(str) aad = STR_INIT(SEAL_AAD_MAX);
	AUTO(locked) plain = LOCKED_INIT;
	const struct text want = TEXT(SEAL_CHECK_TEXT);

	seal_aad_check(&aad, row->id);
	return seal_open(key, seal_bytes(&aad),
		       (struct text){(const char *)row->check, row->check_len}, &plain) == 0 &&
	       plain.len == want.len && sodium_memcmp(plain.p, want.p, want.len) == 0;
}

/*
 * Tries the file that is in place, the next one, and the first again, which may have been replaced
 * in between.
 */
static int open_key_file(const char *home, const struct store_kek *row, struct locked *ret,
	enum key_file *ret_which, struct error *err)
{
	static const enum key_file order[] = {KEY_FILE_NOW, KEY_FILE_NEXT, KEY_FILE_NOW};
	auto_error struct error refusal = ERROR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		int r = key_file_read(home, order[i], ret, err);
		if (r == 0 && opens(row, ret)) {
			*ret_which = order[i];
			return 0;
		}
		if (r < 0 && order[i] == KEY_FILE_NOW)
			error_move(&refusal, err);
		error_clear(err);
	}
	locked_done(ret);
	if (refusal.code == ERROR_NONE)
		return key_state_wrong(STORE_KEK_KEY_FILE, err);
	error_move(err, &refusal);
	return -1;
}

int kek_settle(const char *home, const struct store_kek *primary, struct error *err)
{
	AUTO(locked) key = LOCKED_INIT;
	auto_error struct error refusal = ERROR_INIT;

	if (!key_file_exists(home, KEY_FILE_NEXT))
		return 0;
	if (primary->source == STORE_KEK_KEY_FILE &&
		key_file_read(home, KEY_FILE_NEXT, &key, &refusal) == 0 && opens(primary, &key))
		return key_file_promote(home, false, err);
	return key_file_remove(home, KEY_FILE_NEXT, err);
}

static void settle(struct store *s, const char *home, const struct kek *k)
{
	AUTO(query_transaction) t = QUERY_TRANSACTION_INIT;
	auto_error struct error err = ERROR_INIT;

	if (query_begin(s, &t, &err) == 0 && kek_is_primary(s, k, &err) == 0 &&
		kek_settle(home, &k->row, &err) == 0 && query_commit(&t, &err) == 0)
		return;
	log_warning("the new key file is not in place yet: %s", err.message);
}

static int open_row(struct store *s, const char *home, struct kek *k, struct error *err)
{
	enum key_file which = KEY_FILE_NOW;

	if (k->row.source == STORE_KEK_PASSPHRASE) {
		struct kdf_limits limits = {k->row.opslimit, k->row.memlimit};
		if (kdf_derive(passphrase_text(), k->row.salt, &limits, &k->key, err) < 0)
			return -1;
		return opens(&k->row, &k->key) ? 0 : key_state_wrong(k->row.source, err);
	}
	if (open_key_file(home, &k->row, &k->key, &which, err) < 0)
		return -1;
	if (which == KEY_FILE_NEXT)
		settle(s, home, k);
	return 0;
}

static int decide(
	struct store *s, const char *home, struct key_state *ret, struct kek *k, struct error *err)
{
	auto_free struct store_kek *rows = NULL;
	size_t n = 0;
	struct key_state_have have = {.passphrase = passphrase_text().len > 0};

	if (store_kek_list(s, &rows, &n, err) < 0)
		return -1;
	/* Without rows a next file is what a first attempt left, and nothing was sealed with it. */
	have.key_file = key_file_exists(home, KEY_FILE_NOW) ||
			(n > 0 && key_file_exists(home, KEY_FILE_NEXT));
	if (key_state_decide(rows, n, &have, ret, err) < 0)
		return -1;
	if (ret->action == KEY_STATE_OPEN)
		k->row = rows[ret->primary];
	return 0;
}

int kek_open(struct store *s, const char *home, struct kek *ret, struct error *err)
{
	struct key_state state;

	kek_done(ret);
	locked_process();
	if (decide(s, home, &state, ret, err) < 0)
		return -1;
	if (state.action != KEY_STATE_OPEN)
		return KEK_NONE;
	return open_row(s, home, ret, err);
}

int kek_is_primary(struct store *s, const struct kek *k, struct error *err)
{
	auto_free struct store_kek *rows = NULL;
	size_t n = 0;

	if (store_kek_list(s, &rows, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (rows[i].state == STORE_KEK_PRIMARY && strcmp(rows[i].id, k->row.id) == 0)
			return 0;
	return 1;
}

static void seal_check(struct kek *k)
{
	AUTO(str) aad = STR_INIT(SEAL_AAD_MAX);
	AUTO(str) sealed = STR_INIT(STORE_KEK_CHECK_MAX);

	seal_aad_check(&aad, k->row.id);
	seal_close(&k->key, NULL, seal_bytes(&aad), TEXT(SEAL_CHECK_TEXT), &sealed);
	memcpy(k->row.check, sealed.data, sealed.len);
	k->row.check_len = sealed.len;
}

static void name(struct kek *k, enum store_kek_source source)
{
	unsigned char random[12];

	seal_random(random, sizeof(random));
	memcpy(k->row.id, "kek_", 4);
	hex_encode(random, sizeof(random), k->row.id + 4);
	k->row.source = source;
	k->row.state = STORE_KEK_PRIMARY;
}

void kek_new_of(enum store_kek_source source, struct locked *key, struct kek *ret)
{
	locked_done(&ret->key);
	ret->key = *key;
	*key = LOCKED_INIT;
	name(ret, source);
	seal_check(ret);
}

static int derive_new(struct kek *k, struct locked *ret, struct error *err)
{
	static const struct kdf_limits limits = {KDF_OPSLIMIT, KDF_MEMLIMIT};
	struct text passphrase = passphrase_text();

	if (passphrase.len == 0) {
		error_set(err, ERROR_SECRET_KEY_MISSING, "CLOOP_SECRET_KEY is not set");
		return error_set_remedy(err, "set CLOOP_SECRET_KEY to the new passphrase");
	}
	if (passphrase.len < KDF_PASSPHRASE_MIN)
		return error_set(err, ERROR_SECRET_KEY_WEAK,
			"CLOOP_SECRET_KEY is shorter than %d bytes", KDF_PASSPHRASE_MIN);
	k->row.opslimit = limits.opslimit;
	k->row.memlimit = limits.memlimit;
	seal_random(k->row.salt, sizeof(k->row.salt));
	return kdf_derive(passphrase, k->row.salt, &limits, ret, err);
}

int kek_new(enum store_kek_source source, struct kek *ret, struct error *err)
{
	AUTO(locked) key = LOCKED_INIT;

	kek_done(ret);
	if (source == STORE_KEK_PASSPHRASE) {
		if (derive_new(ret, &key, err) < 0)
			return -1;
	} else {
		locked_make(&key, SEAL_KEY_SIZE);
		seal_random(key.p, key.len);
	}
	kek_new_of(source, &key, ret);
	return 0;
}

/* A key for the first row, from what is in hand. */
static int make_first(
	const char *home, const struct key_state *state, struct kek *ret, struct error *err)
{
	AUTO(locked) key = LOCKED_INIT;

	if (state->action == KEY_STATE_CREATE_KEY_FILE || state->source == STORE_KEK_PASSPHRASE)
		return kek_new(state->source, ret, err);
	int r = key_file_read(home, KEY_FILE_NOW, &key, err);
	if (r < 0)
		return -1;
	if (r > 0)
		return error_set(err, ERROR_SECRET_KEY_MISSING, "the key file went away");
	kek_new_of(state->source, &key, ret);
	return 0;
}

/* 0, or 1 = another process was first. */
static int insert_first(
	struct store *s, const char *home, const struct kek *k, bool create, struct error *err)
{
	AUTO(query_transaction) t = QUERY_TRANSACTION_INIT;
	auto_free struct store_kek *rows = NULL;
	size_t n = 0;

	if (query_begin(s, &t, err) < 0 || store_kek_list(s, &rows, &n, err) < 0)
		return -1;
	if (n > 0 || (create && key_file_exists(home, KEY_FILE_NOW)))
		return 1;
	if (create &&
		(key_file_write_next(home, &k->key, err) < 0 || kek_point("key:next", err) < 0 ||
			key_file_promote(home, true, err) < 0))
		return -1;
	if (kek_point("key:file", err) < 0 || store_kek_insert(s, &k->row, err) < 0 ||
		kek_point("key:row", err) < 0)
		return -1;
	return query_commit(&t, err);
}

int kek_open_or_make(struct store *s, const char *home, struct kek *ret, struct error *err)
{
	struct key_state state;
	int r = 1;

	locked_process();
	while (r > 0) {
		kek_done(ret);
		if (decide(s, home, &state, ret, err) < 0)
			return -1;
		if (state.action == KEY_STATE_OPEN)
			return open_row(s, home, ret, err);
		if (make_first(home, &state, ret, err) < 0)
			return -1;
		r = insert_first(s, home, ret, state.action == KEY_STATE_CREATE_KEY_FILE, err);
	}
	return r;
}
