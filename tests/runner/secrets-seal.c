/* Cases of area `secrets` about what lies sealed: seal, kdf, key_state (disk-and-secrets.md §13).
 */
#include "base/mem.h"
#include "runner/case.h"
#include "vault/kdf.h"
#include "vault/key-state.h"
#include "vault/seal.h"

enum { BYTES_MAX = 1 << 20 };

/* The bytes of a member of hexadecimal digits; false: it is none. */
static bool bytes_of(json_t *c, const char *member, struct locked *ret)
{
	struct text hex = json_get_text(c, member);

	if (!hex.p || hex.len % 2 != 0 || hex.len > BYTES_MAX)
		return false;
	locked_make(ret, hex.len / 2);
	return hex_decode(hex, ret->p, ret->len) == 0;
}

static json_t *hex_of(struct text bytes)
{
	auto_free char *hex = mem_alloc(bytes.len * 2 + 1);

	hex_encode(bytes.p, bytes.len, hex);
	return json_string(hex);
}

static json_t *refused(const struct error *err)
{
	return json_pack("{s:s}", "error", error_code_text(err->code));
}

static bool make_aad(json_t *c, struct str *ret)
{
	const char *what = json_get_string(c, "what");
	const char *kek = json_get_string(c, "kek_id"), *secret = json_get_string(c, "secret_id");
	int kind = secret_kind_from_text(json_get_text(c, "secret_kind"));

	if (!what || !kek || !secret)
		return false;
	if (strcmp(what, "check") == 0)
		seal_aad_check(ret, kek);
	else if (strcmp(what, "dek") == 0)
		seal_aad_dek(ret, kek, secret);
	else if (strcmp(what, "payload") == 0 && kind >= 0)
		seal_aad_payload(ret, secret, (enum secret_kind)kind);
	else
		return false;
	return true;
}

/* It opens to what was sealed, and with any bit changed, of it or of what it is for, not at all. */
static bool holds(const struct locked *key, const struct str *aad, const struct locked *plain,
	struct str *blob)
{
	AUTO(locked) opened = LOCKED_INIT;
	bool ok = seal_open(key, seal_bytes(aad), seal_bytes(blob), &opened) == 0 &&
		  text_equal(locked_text(&opened), locked_text(plain));

	for (size_t bit = 0; ok && bit < blob->len * 8; bit++) {
		blob->data[bit / 8] ^= (char)(1 << bit % 8);
		ok = seal_open(key, seal_bytes(aad), seal_bytes(blob), &opened) == 1 && !opened.p;
		blob->data[bit / 8] ^= (char)(1 << bit % 8);
	}
	for (size_t bit = 0; ok && bit < aad->len * 8; bit++) {
		aad->data[bit / 8] ^= (char)(1 << bit % 8);
		ok = seal_open(key, seal_bytes(aad), seal_bytes(blob), &opened) == 1;
		aad->data[bit / 8] ^= (char)(1 << bit % 8);
	}
	for (size_t len = 0; ok && len < blob->len; len++)
		ok = seal_open(key, seal_bytes(aad), (struct text){blob->data, len}, &opened) == 1;
	return ok;
}

static void run_seal(json_t *c, struct case_result *r)
{
	AUTO(locked) key = LOCKED_INIT;
	AUTO(locked) nonce = LOCKED_INIT;
	AUTO(locked) plain = LOCKED_INIT;
	AUTO(str) aad = STR_INIT(SEAL_AAD_MAX);
	AUTO(str) blob = STR_INIT(BYTES_MAX);

	if (!bytes_of(c, "key_hex", &key) || !bytes_of(c, "nonce_hex", &nonce) ||
		!bytes_of(c, "plaintext_hex", &plain) || key.len != SEAL_KEY_SIZE ||
		nonce.len != SEAL_NONCE_SIZE || !make_aad(c, &aad)) {
		r->got = json_string("not a case");
		return;
	}
	seal_close(&key, nonce.p, seal_bytes(&aad), locked_text(&plain), &blob);
	case_exact(r, c,
		json_pack("{s:o, s:o}", "aad_hex", hex_of(seal_bytes(&aad)), "blob_hex",
			hex_of(seal_bytes(&blob))));
	r->ok = r->ok && holds(&key, &aad, &plain, &blob);
}

static void run_kdf(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(locked) salt = LOCKED_INIT;
	AUTO(locked) key = LOCKED_INIT;
	struct kdf_limits limits = {json_get_int(c, "opslimit", 0), json_get_int(c, "memlimit", 0)};

	if (!bytes_of(c, "salt_hex", &salt) || salt.len != KDF_SALT_SIZE) {
		r->got = json_string("not a case");
		return;
	}
	int done = kdf_derive(json_get_text(c, "passphrase"), salt.p, &limits, &key, &err);
	case_exact(r, c,
		done < 0 ? refused(&err)
			 : json_pack("{s:o}", "key_hex", hex_of(locked_text(&key))));
}

static bool read_row(json_t *j, struct store_kek *ret)
{
	int source = store_kek_source_from_text(json_get_text(j, "source"));
	int state = store_kek_state_from_text(json_get_text(j, "state"));
	const char *id = json_get_string(j, "id");

	if (source < 0 || state < 0 || !id)
		return false;
	*ret = (struct store_kek){
		.source = (enum store_kek_source)source, .state = (enum store_kek_state)state};
	memccpy(ret->id, id, '\0', sizeof(ret->id) - 1);
	return true;
}

static json_t *describe(const struct key_state *s, json_t *rows)
{
	json_t *row = json_array_get(rows, s->primary);

	switch (s->action) {
	case KEY_STATE_OPEN:
		return json_pack(
			"{s:s, s:O}", "action", "open", "primary", json_object_get(row, "id"));
	case KEY_STATE_MINT_PRIMARY:
		return json_pack("{s:s, s:s}", "action", "mint_primary", "source",
			store_kek_source_text(s->source));
	case KEY_STATE_CREATE_KEY_FILE:
	default:
		return json_pack("{s:s}", "action", "create_key_file");
	}
}

static void run_key_state(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	json_t *list = json_object_get(c, "rows"), *in_hand = json_object_get(c, "have"), *j;
	auto_free struct store_kek *rows =
		mem_grow(NULL, json_array_size(list) + 1, sizeof(struct store_kek));
	struct key_state_have have = {json_get_bool(in_hand, "passphrase", false),
		json_get_bool(in_hand, "key_file", false)};
	struct key_state state;
	size_t i;

	json_array_foreach(list, i, j)
	{
		if (!read_row(j, &rows[i])) {
			r->got = json_string("not a case");
			return;
		}
	}
	int done = key_state_decide(rows, json_array_size(list), &have, &state, &err);
	/* What seal_open() says of the check of the one that was chosen. */
	if (done == 0 && state.action == KEY_STATE_OPEN &&
		!text_is(json_get_text(json_array_get(list, state.primary), "check"), "ok"))
		done = key_state_wrong(state.source, &err);
	case_exact(r, c, done < 0 ? refused(&err) : describe(&state, list));
}

const struct case_kind case_seal_kinds[] = {
	{"seal",
		(const char *const[]){"what", "key_hex", "nonce_hex", "kek_id", "secret_id",
			"secret_kind", "plaintext_hex", NULL},
		run_seal},
	{"kdf", (const char *const[]){"passphrase", "salt_hex", "opslimit", "memlimit", NULL},
		run_kdf},
	{"key_state", (const char *const[]){"rows", "have", NULL}, run_key_state},
	{NULL, NULL, NULL},
};
