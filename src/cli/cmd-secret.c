/* cloop secret list, delete, rekey (disk-and-secrets.md §13, §19). */
#include <stdio.h>

#include "base/json.h"
#include "cli/actor.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/take-back.h"
#include "cli/table.h"
#include "executor/rundir/home.h"
#include "run/revoke.h"
#include "store/secret.h"
#include "store/store.h"
#include "vault/rekey.h"
#include "vault/vault.h"

/* 0, or 1 = this home has no store yet: nothing was ever minted. */
static int open_store(struct cli *c, struct home *home, struct store **ret, struct error *err)
{
	if (cli_home_open_due(c, home, err) < 0)
		return -1;
	return store_open_existing(home->path, ret, err);
}

static void add(void *list, const struct store_secret *r)
{
	json_array_append_new(list,
		json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "id", json_from_string(r->id), "name",
			json_from_string(r->name), "kind", json_from_string(r->kind), "owner",
			json_from_string(r->owner), "created_at", json_from_string(r->created_at),
			"created_by", json_from_string(r->created_by)));
}

static void print(const json_t *list)
{
	AUTO(table) t = TABLE_INIT;
	size_t i;
	json_t *secret;

	table_titles(&t, (const char *[]){"ID", "NAME", "KIND", "OWNER", "MINTED", "BY", NULL});
	json_array_foreach(list, i, secret) table_row(
		&t, (const char *[]){json_get_string(secret, "id"), json_get_string(secret, "name"),
			    json_get_string(secret, "kind"), json_get_string(secret, "owner"),
			    json_get_string(secret, "created_at"),
			    json_get_string(secret, "created_by")});
	table_print(&t);
}

static int run_list(struct cli *c, struct error *err)
{
	AUTO(home) home = HOME_INIT;
	AUTO_PTR(store) store = NULL;
	auto_json *list = json_array();

	int r = open_store(c, &home, &store, err);
	if (r < 0 || (r == 0 && store_secret_list(store, add, list, err) < 0))
		return -1;
	if (c->json) {
		cli_print_json(json_pack("{s:O}", "secrets", list));
		return CLI_OK;
	}
	print(list);
	return CLI_OK;
}

/* Before it is deleted, so that no run gets it, and after, for one that was granted in between. */
static int end_grants(
	struct store *s, const char *name, const char *actor, json_t *numbers, struct error *err)
{
	const struct revoke_order order = {
		.action = REVOCATION_SCRUB, .reason = "the secret was deleted", .actor = actor};

	return revoke_store_secret(s, name, &order, numbers, err);
}

static int show_deletion(const struct cli *c, const char *name, const json_t *revoked)
{
	size_t i;
	json_t *one;

	if (c->json) {
		cli_print_json(json_pack(
			"{s:s, s:b, s:O}", "name", name, "deleted", 1, "revoked", revoked));
		return take_back_status(revoked);
	}
	printf("deleted: %s\n", name);
	json_array_foreach(revoked, i, one) take_back_print(one);
	return take_back_status(revoked);
}

static int run_delete(struct cli *c, struct error *err)
{
	AUTO(home) home = HOME_INIT;
	AUTO_PTR(store) store = NULL;
	auto_free char *actor = actor_name();
	auto_json *numbers = json_array();
	auto_json *revoked = NULL;
	const char *name = cli_arg(c, 0);

	int r = open_store(c, &home, &store, err);
	if (r > 0)
		return error_set(
			err, ERROR_SECRET_NOT_FOUND, "there is no secret %s", quoted_string(name));
	if (r < 0 || end_grants(store, name, actor, numbers, err) < 0 ||
		vault_delete(store, name, actor, err) < 0 ||
		end_grants(store, name, actor, numbers, err) < 0 ||
		take_back(c, &home, store, numbers, &revoked, err) < 0)
		return -1;
	return show_deletion(c, name, revoked);
}

static int read_target(const struct cli *c, enum rekey_to *ret, struct error *err)
{
	bool file = cli_flag(c, "--to-key-file"), passphrase = cli_flag(c, "--to-passphrase");

	if (file && passphrase)
		return cli_usage(c, err, "--to-key-file and --to-passphrase are both given");
	*ret = file ? REKEY_TO_KEY_FILE : passphrase ? REKEY_TO_PASSPHRASE : REKEY_SAME;
	return 0;
}

static const char *source_text(enum store_kek_source source)
{
	return source == STORE_KEK_PASSPHRASE ? "the passphrase in CLOOP_SECRET_KEY"
					      : "the key file keys/secret.key";
}

static int run_rekey(struct cli *c, struct error *err)
{
	AUTO(home) home = HOME_INIT;
	AUTO_PTR(store) store = NULL;
	auto_free char *actor = actor_name();
	enum rekey_to to = REKEY_SAME;
	struct rekey_done done;

	if (read_target(c, &to, err) < 0)
		return -1;
	int r = open_store(c, &home, &store, err);
	if (r == 0)
		r = rekey_run(store, home.path, to, actor, &done, err);
	if (r < 0)
		return -1;
	if (c->json)
		cli_print_json(r > 0 ? json_pack("{s:n, s:n, s:i}", "kek", "source", "secrets", 0)
				     : json_pack("{s:s, s:s, s:I}", "kek", done.kek, "source",
					       store_kek_source_text(done.to), "secrets",
					       (json_int_t)done.secrets));
	else if (r > 0)
		printf("nothing was ever sealed: there is no key to replace\n");
	else
		printf("%zu secret%s sealed with a new key, from %s\n", done.secrets,
			done.secrets == 1 ? " is" : "s are", source_text(done.to));
	return CLI_OK;
}

const struct verb cmd_secret_list = {
	.group = "secret",
	.name = "list",
	.summary = "list secrets, never what is in them",
	.flags = VERB_JSON | VERB_HOME,
	.help = "Names, kinds and who minted them. No command shows a payload, or how long it is.",
	.run = run_list,
};

const struct verb cmd_secret_delete = {
	.group = "secret",
	.name = "delete",
	.summary = "delete a secret",
	.args = "NAME",
	.min_args = 1,
	.max_args = 1,
	.flags = VERB_JSON | VERB_HOME | VERB_CONFIG,
	.help = "What was sealed is overwritten in state.db. No key is needed. Its grants are "
		"revoked; the exit status is 1 if one could not be taken back from every run yet, "
		"as with secret revoke. What a workload copied is out of reach: rotate the "
		"credential where it came from.",
	.run = run_delete,
};

static const struct option rekey_options[] = {
	{"--to-key-file", NULL, "from now on keys/secret.key is the key", NULL, false},
	{"--to-passphrase", NULL, "from now on CLOOP_SECRET_KEY is the key", NULL, false},
	{NULL, NULL, NULL, NULL, false},
};

const struct verb cmd_secret_rekey = {
	.group = "secret",
	.name = "rekey",
	.summary = "seal all secrets with a new key",
	.flags = VERB_JSON | VERB_HOME,
	.options = rekey_options,
	.help = "Without an option the key comes from where it came from: a key file gets a new "
		"key, a passphrase a new salt. The old key has to be in hand. --to-key-file uses "
		"keys/secret.key if it is there; --to-passphrase removes it. For another "
		"passphrase: --to-key-file with the old one, then --to-passphrase with the new "
		"one.\n"
		"All or nothing; interrupted at any moment, everything still opens.",
	.run = run_rekey,
};
