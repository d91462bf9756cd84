/* A home with secrets, for tests of the vault: include it once per program. */
#pragma once

#include "unit/sys/unit-dir.h"

#include "base/mem.h"
#include "store/query.h"
#include "store/secret.h"
#include "vault/passphrase.h"
#include "vault/vault.h"

#define CANARY "canary-2f9d7c51-value"
#define LONG "a passphrase of enough bytes"

static inline struct store *open_store(void)
{
	auto_error struct error err = ERROR_INIT;
	struct store *s = NULL;

	assert_done(store_open(path, &s, &err), &err);
	return s;
}

static inline void execute(const char *sql)
{
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = open_store();

	assert_done(query_exec(s, sql, &err), &err);
}

static inline int64_t number(const char *sql)
{
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = open_store();
	AUTO(query) q = QUERY_INIT;

	assert_done(query_prepare(s, sql, &q, &err), &err);
	assert_int_equal(query_step(&q, &err), 1);
	return query_int(&q, 0);
}

static inline int mint(const char *name, const char *kind, char *ret_id, struct error *err)
{
	AUTO_PTR(store) s = NULL;
	AUTO(store_secret) row = STORE_SECRET_INIT;

	mem_set_string(&row.name, name);
	mem_set_string(&row.kind, kind);
	mem_set_string(&row.created_by, "tester");
	return store_open(path, &s, err) < 0 ? -1
					     : vault_mint(s, path, &row, TEXT(CANARY), ret_id, err);
}

/* The code of the error, or "ok" when the payload came out of an open vault. */
static inline const char *read_from(struct vault *v, const char *id, enum secret_kind want)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(locked) payload = LOCKED_INIT;
	enum secret_kind kind;

	if (vault_read(v, id, &kind, &payload, &err) < 0) {
		assert_null(payload.p);
		assert_null(strstr(err.message, CANARY));
		return error_code_text(err.code);
	}
	assert_true(text_is(locked_text(&payload), CANARY));
	assert_int_equal(kind, want);
	return "ok";
}

static inline const char *read_back(const char *id, enum secret_kind want)
{
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) s = open_store();
	AUTO_PTR(vault) v = NULL;

	int r = vault_open(s, path, &v, &err);
	if (r > 0)
		return "empty";
	return r < 0 ? error_code_text(err.code) : read_from(v, id, want);
}

/* NULL: none. */
static inline void set_passphrase(const char *value)
{
	if (value)
		assert_int_equal(setenv("CLOOP_SECRET_KEY", value, 1), 0);
	passphrase_take();
}

static inline int vault_setup(void **state)
{
	set_passphrase(NULL);
	return dir_setup(state);
}

#define IN_VAULT(f) cmocka_unit_test_setup_teardown(f, vault_setup, dir_teardown)
