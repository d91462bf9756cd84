/*
 * A compiled filter as text for `nft -f -` (network.md §7): one table of family inet, one
 * transaction that replaces it whole. Pure; nothing here runs nft.
 */
#pragma once

#include "base/str.h"
#include "net/egress-policy.h"

enum {
	NFT_TABLE_NAME_MAX = 64,
	NFT_BRIDGE_NAME_MAX = 15,
	NFT_COMMENT_MAX = 120,
	NFT_SCRIPT_MAX = 1 << 20, /* more than any policy needs */
};

enum nft_form {
	NFT_BRIDGE,    /* on the host, for what comes over a sandbox's bridge */
	NFT_NAMESPACE, /* inside a sandbox's own network namespace */
};

struct nft_script_names {
	enum nft_form form;
	struct text table;
	struct text bridge; /* NFT_BRIDGE only */
	struct text comment;
};

/* nft_name_invalid. */
must_check int nft_script_check_table(struct text name, struct error *err);
must_check int nft_script_check_bridge(struct text name, struct error *err);

/*
 * Any text as it may stand in a comment: the characters that mean something to nft and control
 * characters become blanks, runs of blanks one; at most NFT_COMMENT_MAX bytes.
 */
void nft_script_comment(struct text t, char out[NFT_COMMENT_MAX + 1]);

/* Appends the script. -1: nft_name_invalid, and nothing is appended. */
must_check int nft_script_render(const struct egress_policy *p,
	const struct nft_script_names *names, struct str *out, struct error *err);
/* Appends what removes the table, whether it is there or not. */
must_check int nft_script_remove(struct text table, struct str *out, struct error *err);

/* What nft wrote to stderr is about privileges, not about the script (§7.1). */
bool nft_script_is_privilege(struct text standard_error);
