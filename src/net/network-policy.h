/* A compiled filter as a Kubernetes NetworkPolicy (network.md §8). Pure. */
#pragma once

#include <jansson.h>

#include "net/egress-policy.h"

struct network_policy_names {
	struct text name;
	struct text name_space;
	json_t *selector; /* labels of the pods it is for: name to text; borrowed */
	bool cluster_dns; /* the cluster's own resolver may be asked */
};

/*
 * The object; the caller's. It agrees with what the policy answers on the wire for TCP and UDP.
 * NULL: egress_selector_missing, without a name or a label (an empty selector would take every pod
 * of the namespace).
 */
must_check json_t *network_policy_render(
	const struct egress_policy *p, const struct network_policy_names *names, struct error *err);
