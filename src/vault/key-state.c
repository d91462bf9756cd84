#include "vault/key-state.h"

static int missing(enum store_kek_source source, struct error *err)
{
	if (source == STORE_KEK_PASSPHRASE) {
		error_set(err, ERROR_SECRET_KEY_MISSING,
			"the secrets are sealed with a passphrase, and CLOOP_SECRET_KEY is not "
			"set");
		return error_set_remedy(err, "set CLOOP_SECRET_KEY to the passphrase");
	}
	error_set(err, ERROR_SECRET_KEY_MISSING,
		"the secrets are sealed with a key file, and keys/secret.key is not there");
	return error_set_remedy(err, "bring keys/secret.key back into cloop's home");
}

int key_state_wrong(enum store_kek_source source, struct error *err)
{
	if (source == STORE_KEK_PASSPHRASE) {
		error_set(err, ERROR_SECRET_KEY_WRONG,
			"CLOOP_SECRET_KEY is not what the secrets were sealed with");
		return error_set_remedy(err, "set CLOOP_SECRET_KEY to the right passphrase");
	}
	error_set(err, ERROR_SECRET_KEY_WRONG,
		"keys/secret.key is not what the secrets were sealed with");
	return error_set_remedy(err, "bring the right keys/secret.key back into cloop's home");
}

/* Nothing was sealed yet. */
static int decide_first(const struct key_state_have *have, struct key_state *ret)
{
	bool any = have->passphrase || have->key_file;

	*ret = (struct key_state){
		.action = any ? KEY_STATE_MINT_PRIMARY : KEY_STATE_CREATE_KEY_FILE,
		.source = have->passphrase ? STORE_KEK_PASSPHRASE : STORE_KEK_KEY_FILE,
	};
	return 0;
}

int key_state_decide(const struct store_kek *rows, size_t n, const struct key_state_have *have,
	struct key_state *ret, struct error *err)
{
	size_t primaries = 0, primary = 0;

	if (n == 0)
		return decide_first(have, ret);
	for (size_t i = 0; i < n; i++) {
		if (rows[i].state != STORE_KEK_PRIMARY)
			continue;
		primary = i;
		primaries++;
	}
	if (primaries != 1)
		return error_set(err, ERROR_SECRET_KEY_STATE,
			"of %zu keys that sealed secrets %zu are primary, and one must be", n,
			primaries);
	enum store_kek_source source = rows[primary].source;
	if (source == STORE_KEK_PASSPHRASE ? !have->passphrase : !have->key_file)
		return missing(source, err);
	*ret = (struct key_state){KEY_STATE_OPEN, primary, source};
	return 0;
}
