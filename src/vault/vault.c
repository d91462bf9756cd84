#include "vault/vault.h"

#include "base/json.h"
#include "base/mem.h"
#include "store/audit.h"
#include "store/query.h"
#include "store/secret.h"
#include "vault/dek.h"
#include "vault/kek.h"
#include "vault/seal.h"

struct vault {
	struct store *store;
	char *home;
	struct kek kek;
};

void vault_free(struct vault *v)
{
	if (!v)
		return;
	kek_done(&v->kek);
	free(v->home);
	free(v);
}

int vault_open(struct store *s, const char *home, struct vault **ret, struct error *err)
{
	AUTO_PTR(vault) v = mem_alloc(sizeof(*v));

	v->store = s;
	v->home = mem_strdup(home);
	int r = kek_open(s, home, &v->kek, err);
	if (r < 0)
		return -1;
	if (r > 0)
		return VAULT_EMPTY;
	*ret = TAKE_PTR(v);
	return 0;
}

static int read_row(struct vault *v, const char *id, enum secret_kind *ret_kind,
	struct store_secret_sealed *ret, struct error *err)
{
	AUTO(store_secret) row = STORE_SECRET_INIT;
	AUTO(query_transaction) t = QUERY_TRANSACTION_INIT;

	if (query_begin_read(v->store, &t, err) < 0)
		return -1;
	int r = store_secret_find_id(v->store, id, &row, err);
	if (r == 0)
		r = store_secret_find_sealed(v->store, id, ret, err);
	if (r < 0 || query_commit(&t, err) < 0)
		return -1;
	if (r > 0)
		return error_set(
			err, ERROR_SECRET_NOT_FOUND, "there is no secret %s", quoted_string(id));
	int kind = secret_kind_from_text(text_of(row.kind));
	if (kind < 0)
		return dek_refuse(id, err);
	*ret_kind = (enum secret_kind)kind;
	return 0;
}

/* Another process may have rekeyed since the vault was opened. */
static int follow_rekey(struct vault *v, const char *kek, struct error *err)
{
	if (strcmp(v->kek.row.id, kek) == 0)
		return 0;
	int r = kek_open(v->store, v->home, &v->kek, err);
	return r > 0 ? error_set(err, ERROR_SECRET_KEY_STATE, "the table of keys is empty") : r;
}

int vault_read(struct vault *v, const char *id, enum secret_kind *ret_kind, struct locked *ret,
	struct error *err)
{
	AUTO(store_secret_sealed) sealed = STORE_SECRET_SEALED_INIT;
	AUTO(str) aad = STR_INIT(SEAL_AAD_MAX);
	AUTO(locked) dek = LOCKED_INIT;

	if (read_row(v, id, ret_kind, &sealed, err) < 0 || follow_rekey(v, sealed.kek, err) < 0 ||
		dek_open(&v->kek, id, seal_bytes(&sealed.dek), &dek, err) < 0)
		return -1;
	seal_aad_payload(&aad, id, *ret_kind);
	return seal_open(&dek, seal_bytes(&aad), seal_bytes(&sealed.payload), ret) == 0
		       ? 0
		       : dek_refuse(id, err);
}

static void seal(const struct kek *k, const struct store_secret *row, struct text payload,
	struct store_secret_sealed *ret)
{
	AUTO(str) aad = STR_INIT(SEAL_AAD_MAX);
	AUTO(locked) dek = LOCKED_INIT;

	locked_make(&dek, SEAL_KEY_SIZE);
	seal_random(dek.p, dek.len);
	mem_set_string(&ret->kek, k->row.id);
	str_reset(&ret->dek);
	dek_seal(k, row->id, &dek, &ret->dek);
	seal_aad_payload(
		&aad, row->id, (enum secret_kind)secret_kind_from_text(text_of(row->kind)));
	str_reset(&ret->payload);
	seal_close(&dek, NULL, seal_bytes(&aad), payload, &ret->payload);
}

static int add_audit(struct store *s, const char *action, const struct store_secret *row,
	const char *actor, struct error *err)
{
	auto_json *payload = json_pack("{s:o, s:o, s:o, s:o}", "id", json_from_string(row->id),
		"name", json_from_string(row->name), "kind", json_from_string(row->kind), "owner",
		json_from_string(row->owner));
	struct store_audit_event event = {action, "secret", actor, payload};

	return store_audit_add(s, &event, err);
}

/* 0, or 1 = another process has rekeyed. */
static int insert(struct store *s, const struct kek *k, const struct store_secret *row,
	const struct store_secret_sealed *sealed, struct error *err)
{
	AUTO(query_transaction) t = QUERY_TRANSACTION_INIT;

	if (query_begin(s, &t, err) < 0)
		return -1;
	int r = kek_is_primary(s, k, err);
	if (r != 0)
		return r;
	r = store_secret_insert(s, row, sealed, err);
	if (r > 0)
		return error_set(err, ERROR_SECRET_EXISTS, "there is a secret %s already",
			quoted_string(row->name));
	if (r < 0 || add_audit(s, "secret.mint", row, row->created_by, err) < 0)
		return -1;
	return query_commit(&t, err);
}

int vault_mint(struct store *s, const char *home, const struct store_secret *row,
	struct text payload, char ret_id[VAULT_SECRET_ID_SIZE], struct error *err)
{
	AUTO(store_secret_sealed) sealed = STORE_SECRET_SEALED_INIT;
	AUTO(kek) k = KEK_INIT;
	unsigned char random[12];
	char id[VAULT_SECRET_ID_SIZE] = "sec_";
	struct store_secret named = *row;
	int r = 1;

	seal_random(random, sizeof(random));
	hex_encode(random, sizeof(random), id + strlen("sec_"));
	named.id = id;
	while (r > 0) {
		if (kek_open_or_make(s, home, &k, err) < 0)
			return -1;
		seal(&k, &named, payload, &sealed);
		r = insert(s, &k, &named, &sealed, err);
	}
	if (r == 0)
		memcpy(ret_id, id, sizeof(id));
	return r;
}

static int delete_row(struct store *s, const char *name, const char *actor, struct error *err)
{
	AUTO(query_transaction) t = QUERY_TRANSACTION_INIT;
	AUTO(store_secret) row = STORE_SECRET_INIT;

	if (query_begin(s, &t, err) < 0)
		return -1;
	int r = store_secret_find(s, name, &row, err);
	if (r == 0)
		r = store_secret_delete(s, row.id, err);
	if (r > 0)
		return error_set(
			err, ERROR_SECRET_NOT_FOUND, "there is no secret %s", quoted_string(name));
	if (r < 0 || add_audit(s, "secret.delete", &row, actor, err) < 0)
		return -1;
	return query_commit(&t, err);
}

int vault_delete(struct store *s, const char *name, const char *actor, struct error *err)
{
	if (store_erase(s, err) < 0 || delete_row(s, name, actor, err) < 0)
		return -1;
	store_fold_log(s);
	return 0;
}
