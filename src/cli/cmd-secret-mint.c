/* cloop secret mint (disk-and-secrets.md §12, §19). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/actor.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "executor/rundir/home.h"
#include "store/secret.h"
#include "store/store.h"
#include "vault/payload.h"
#include "vault/secret-file.h"
#include "vault/secret-name.h"
#include "vault/vault.h"

/* Options that say how a kind is delivered, each of one kind. */
static const struct {
	const char *option;
	enum secret_kind kind;
} of_kind[] = {
	{"--env", SECRET_ENV},
	{"--format", SECRET_ENV},
	{"--file-name", SECRET_FILE},
	{"--mode", SECRET_FILE},
};

/* All of it, or one byte more than a payload may have. */
static int read_payload(int fd, const char *what, struct locked *ret, struct error *err)
{
	size_t have = 0;
	ssize_t n;

	locked_make(ret, PAYLOAD_MAX + 1);
	while (have < ret->len) {
		n = read(fd, ret->p + have, ret->len - have);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set_errno(err, ERROR_IO, errno, "reading %s", what);
		if (n == 0)
			break;
		have += (size_t)n;
	}
	locked_cut(ret, have);
	return 0;
}

static int take_payload(const struct cli *c, struct locked *ret, struct error *err)
{
	const char *file = cli_option(c, "--file"), *value = cli_option(c, "--value");

	if (file && value)
		return cli_usage(c, err, "--file and --value are both given");
	if (value) {
		fputs("cloop: warning: a value on the command line is seen by every user of this "
		      "host while the command runs\n",
			stderr);
		locked_copy(ret, text_of(value));
		return 0;
	}
	if (!file) {
		if (isatty(STDIN_FILENO))
			return cli_usage(c, err,
				"the payload is read from stdin, and that is a terminal: use a "
				"pipe or --file");
		return read_payload(STDIN_FILENO, "stdin", ret, err);
	}
	auto_fd int fd = open(file, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return error_set_errno(err, ERROR_IO, errno, "opening %s", quoted_string(file));
	return read_payload(fd, quoted_string(file), ret, err);
}

static int read_options(
	const struct cli *c, enum secret_kind kind, struct payload_options *ret, struct error *err)
{
	const char *format = cli_option(c, "--format"), *mode = cli_option(c, "--mode");

	for (size_t i = 0; i < ARRAY_SIZE(of_kind); i++)
		if (cli_option(c, of_kind[i].option) && of_kind[i].kind != kind)
			return cli_usage(c, err, "%s belongs to secrets of kind %s",
				of_kind[i].option, secret_kind_text(of_kind[i].kind));
	*ret = (struct payload_options){
		.name = text_of(cli_arg(c, 0)),
		.env_name = text_of(cli_option(c, "--env")),
		.env_format = ENV_FORMAT_AUTO,
		.file_name = text_of(cli_option(c, "--file-name")),
	};
	if (format)
		ret->env_format = (enum env_format)env_format_from_text(text_of(format));
	if (ret->env_name.p && ret->env_format == ENV_FORMAT_OBJECT)
		return cli_usage(c, err, "--env names one variable, and --format object has many");
	return mode ? secret_file_mode_parse(text_of(mode), &ret->file_mode, err) : 0;
}

/* Nothing of the home is touched before the payload is known to be good. */
static int read_request(struct cli *c, enum secret_kind *ret_kind, struct payload_options *options,
	struct locked *payload, struct error *err)
{
	const char *kind = cli_option(c, "--kind");

	if (secret_name_check(text_of(cli_arg(c, 0)), err) < 0)
		return -1;
	if (!kind)
		return cli_usage(c, err, "say what it is with --kind KIND");
	if (secret_kind_parse(text_of(kind), ret_kind, err) < 0 ||
		read_options(c, *ret_kind, options, err) < 0 || take_payload(c, payload, err) < 0)
		return -1;
	return payload_check(*ret_kind, options, locked_text(payload), err);
}

static void print_notes(enum secret_kind kind, struct text payload)
{
	if (kind == SECRET_ENV)
		fputs("cloop: note: variables are seen in the engine's database while a sandbox "
		      "exists; --kind file keeps a credential out of it\n",
			stderr);
	if (kind == SECRET_ENV && text_ends(payload, "\n"))
		fputs("cloop: note: the payload ends with a line break, which is part of it\n",
			stderr);
}

static void print_minted(
	const struct cli *c, const char *id, enum secret_kind kind, struct text payload)
{
	const char *name = cli_arg(c, 0);

	if (c->json) {
		cli_print_json(json_pack("{s:s, s:s, s:s, s:n, s:i}", "id", id, "name", name,
			"kind", secret_kind_text(kind), "owner", "grants", 0));
		return;
	}
	printf("%s\n", id);
	printf("nothing is granted yet: cloop secret grant %s --to SUBJECT\n", name);
	print_notes(kind, payload);
}

static int mint(struct cli *c, const struct store_secret *row, struct text payload,
	char ret_id[VAULT_SECRET_ID_SIZE], struct error *err)
{
	AUTO(home) home = HOME_INIT;
	AUTO_PTR(store) store = NULL;

	if (cli_home_open_due(c, &home, err) < 0 || store_open(home.path, &store, err) < 0)
		return -1;
	return vault_mint(store, home.path, row, payload, ret_id, err);
}

static int run_mint(struct cli *c, struct error *err)
{
	AUTO(locked) payload = LOCKED_INIT;
	AUTO(store_secret) row = STORE_SECRET_INIT;
	struct payload_options options = {0};
	enum secret_kind kind = SECRET_ENV;
	char id[VAULT_SECRET_ID_SIZE];

	locked_process();
	if (read_request(c, &kind, &options, &payload, err) < 0)
		return -1;
	mem_set_string(&row.name, cli_arg(c, 0));
	mem_set_string(&row.kind, secret_kind_text(kind));
	mem_set_string(&row.env, cli_option(c, "--env"));
	mem_set_string(&row.format, cli_option(c, "--format"));
	mem_set_string(&row.file_name, cli_option(c, "--file-name"));
	row.mode = options.file_mode;
	row.created_by = actor_name();
	if (mint(c, &row, locked_text(&payload), id, err) < 0)
		return -1;
	print_minted(c, id, kind, locked_text(&payload));
	return CLI_OK;
}

static const struct option options[] = {
	{"--kind", "KIND", "what it is; required", NULL, false},
	{"--file", "FILE", "read the payload from a file instead of stdin", NULL, false},
	{"--value", "V", "the payload itself, for what is not secret; warns", NULL, false},
	{"--env", "NAME", "env: the variable; default: after the secret's name", NULL, false},
	{"--format", "FORMAT", "env: one value, or an object of variables", "value object", false},
	{"--file-name", "NAME", "file: what the file is called; default: the name", NULL, false},
	{"--mode", "MODE", "file: 0400, 0500, 0600 (default) or 0700", NULL, false},
	{NULL, NULL, NULL, NULL, false},
};

const struct verb cmd_secret_mint = {
	.group = "secret",
	.name = "mint",
	.summary = "keep a secret, sealed; nobody has it yet",
	.args = "NAME",
	.min_args = 1,
	.max_args = 1,
	.flags = VERB_JSON | VERB_HOME,
	.options = options,
	.help = "Kinds: env, file, host_device, host_interface, local_repo, registry, kubeconfig. "
		"The payload is at most 256 KiB, read from stdin unless an option says otherwise, "
		"kept byte for byte, and never shown again. Its lines are checked now.\n"
		"It lies sealed in state.db. The key is the passphrase in CLOOP_SECRET_KEY (at "
		"least 16 bytes), or keys/secret.key of cloop's home, which is made with the first "
		"secret.\n"
		"Variables (--kind env) reach the engine's database on disk: credentials that "
		"matter belong into files.\n"
		"  printf %s \"$TOKEN\" | cloop secret mint github --kind env --env GITHUB_TOKEN",
	.run = run_mint,
};
