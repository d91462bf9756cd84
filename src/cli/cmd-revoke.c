/* cloop secret revoke, lease revoke, egress revoke (disk-and-secrets.md §18). */
#include <stdio.h>

#include "base/json.h"
#include "cli/actor.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/take-back.h"
#include "run/revoke.h"
#include "store/store.h"

static int show(struct cli *c, const json_t *answers)
{
	json_t *answer = json_array_get(answers, 0);

	if (c->json)
		cli_print_json(json_incref(answer));
	else
		take_back_print(answer);
	return take_back_status(answers);
}

static int order_and_tell(
	struct cli *c, struct revoke_order *order, enum error_code none, struct error *err)
{
	AUTO(home) home = HOME_INIT;
	AUTO_PTR(store) store = NULL;
	auto_free char *actor = actor_name();
	auto_json *answers = NULL;
	int64_t number = 0;

	order->reason = cli_option(c, "--reason");
	order->actor = actor;
	if (cli_home_open_due(c, &home, err) < 0)
		return -1;
	int r = store_open_existing(home.path, &store, err);
	if (r > 0)
		return error_set(err, none, "there is no %s", quoted_string(cli_arg(c, 0)));
	if (r < 0 || revoke_store(store, order, &number, err) < 0)
		return -1;
	auto_json *numbers = json_pack("[I]", (json_int_t)number);
	if (take_back(c, &home, store, numbers, &answers, err) < 0)
		return -1;
	return show(c, answers);
}

/* An unknown word means scrub (disk-and-secrets.md §18). */
static enum revocation_action read_action(const struct cli *c)
{
	const char *action = cli_option(c, "--action");
	int wanted = action ? revocation_action_from_text(text_of(action)) : -1;

	return wanted < 0 ? REVOCATION_SCRUB : (enum revocation_action)wanted;
}

static int run_secret(struct cli *c, struct error *err)
{
	struct revoke_order order = {.lease = "", .grant = cli_arg(c, 0), .action = read_action(c)};

	return order_and_tell(c, &order, ERROR_GRANT_NOT_FOUND, err);
}

static int run_egress(struct cli *c, struct error *err)
{
	struct revoke_order order = {
		.lease = "", .grant = cli_arg(c, 0), .action = REVOCATION_SCRUB};

	if (text_starts(text_of(order.grant), "egress_"))
		return order_and_tell(c, &order, ERROR_EGRESS_GRANT_NOT_FOUND, err);
	return error_set(err, ERROR_EGRESS_GRANT_NOT_FOUND, "there is no egress grant %s",
		quoted_string(order.grant));
}

static int run_lease(struct cli *c, struct error *err)
{
	const char *grant = cli_option(c, "--grant");
	struct revoke_order order = {
		.lease = cli_arg(c, 0), .grant = grant ? grant : "", .action = read_action(c)};

	return order_and_tell(c, &order, ERROR_LEASE_NOT_FOUND, err);
}

#define ACTION \
	{ \
		"--action", "ACTION", "scrub (default) or kill, which ends the run", NULL, false \
	}
#define REASON \
	{ \
		"--reason", "TEXT", "why, for the audit trail", NULL, false \
	}
#define END \
	{ \
		NULL, NULL, NULL, NULL, false \
	}

static const char exits[] =
	"0 taken back everywhere; 1 something is not taken back yet, or failed; "
	"2 wrong usage";

static const struct option secret_options[] = {ACTION, REASON, END};
static const struct option egress_options[] = {REASON, END};
static const struct option lease_options[] = {
	{"--grant", "GRANT", "only what this grant brought", NULL, false}, ACTION, REASON, END};

const struct verb cmd_secret_revoke = {
	.group = "secret",
	.name = "revoke",
	.summary = "end a grant, and take back what runs got by it",
	.args = "GRANT",
	.min_args = 1,
	.max_args = 1,
	.flags = VERB_JSON | VERB_HOME | VERB_CONFIG,
	.options = secret_options,
	.help = "No run gets it from now on. Every run that holds it is told: files are wiped "
		"while the workload runs on; a variable, a device, an interface or a repository "
		"cannot be taken from a running sandbox, so then the run is ended (exit status "
		"123) and its container removed.\n"
		"The answer says the outcome per run: done; unreachable, which later commands try "
		"again; or failed, and then the credential must be rotated at its source. The exit "
		"status is 0 for the state revoked, and 1 for revoke_pending, unreachable and "
		"failed: something is not taken back yet. What a workload copied, or holds open, "
		"no revocation reaches. Revoking twice is no error.",
	.exits = exits,
	.run = run_secret,
};

const struct verb cmd_lease_revoke = {
	.group = "lease",
	.name = "revoke",
	.summary = "take back what one run holds",
	.args = "LEASE",
	.min_args = 1,
	.max_args = 1,
	.flags = VERB_JSON | VERB_HOME | VERB_CONFIG,
	.options = lease_options,
	.help = "As secret revoke, with the same exit status, for the run of one lease; the grants "
		"go on, and a later run gets them again.",
	.exits = exits,
	.run = run_lease,
};

const struct verb cmd_egress_revoke = {
	.group = "egress",
	.name = "revoke",
	.summary = "end a grant, and cut what runs have open by it",
	.args = "GRANT",
	.min_args = 1,
	.max_args = 1,
	.flags = VERB_JSON | VERB_HOME | VERB_CONFIG,
	.options = egress_options,
	.help = "No run gets it from now on. Every run that has a session under it is told: the "
		"session is closed, downloads and tunnels are cut, and the workload runs on "
		"without the proxy. The answer says the outcome per run, as secret revoke does, "
		"with the same exit status. Revoking twice is no error.",
	.exits = exits,
	.run = run_egress,
};
