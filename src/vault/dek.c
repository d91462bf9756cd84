#include "vault/dek.h"

#include "vault/seal.h"

int dek_refuse(const char *secret_id, struct error *err)
{
	return error_set(
		err, ERROR_SECRET_STORE, "secret %s does not open", quoted_string(secret_id));
}

int dek_open(const struct kek *k, const char *secret_id, struct text sealed, struct locked *ret,
	struct error *err)
{
	AUTO(str) aad = STR_INIT(SEAL_AAD_MAX);

	seal_aad_dek(&aad, k->row.id, secret_id);
	if (seal_open(&k->key, seal_bytes(&aad), sealed, ret) != 0 || ret->len != SEAL_KEY_SIZE)
		return dek_refuse(secret_id, err);
	return 0;
}

void dek_seal(const struct kek *k, const char *secret_id, const struct locked *dek, struct str *ret)
{
	AUTO(str) aad = STR_INIT(SEAL_AAD_MAX);

	seal_aad_dek(&aad, k->row.id, secret_id);
	seal_close(&k->key, NULL, seal_bytes(&aad), locked_text(dek), ret);
}
