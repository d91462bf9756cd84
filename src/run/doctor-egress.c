#include "run/doctor-egress.h"

#include <string.h>

#include "executor/container/preflight.h"
#include "run/egress-grants.h"
#include "store/store.h"
#include "vault/clocks-now.h"

#define NAME "firewall.metadata"

struct examination {
	struct preflight_report *report;
	struct two_clocks now;
};

/* A rule may have been learnt since it was made: nobody holds it then, and nobody knows why. */
static void examine(void *data, const struct store_egress_grant *g)
{
	struct examination *x = data;
	auto_error struct error err = ERROR_INIT;
	struct egress_grant grant;

	if (egress_grants_state(g, &x->now) != GRANT_ACTIVE)
		return;
	if (egress_grants_read(g, &grant, &err) < 0)
		preflight_report_add(x->report, NAME, PREFLIGHT_FAIL, error_remedy(&err),
			"egress grant %s: %s", quoted(g->id), err.message);
	egress_grant_done(&grant);
}

void doctor_egress(const char *home, struct preflight_report *r)
{
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) store = NULL;
	struct examination x = {r, clocks_now()};
	int found = store_open_existing(home, &store, &err);

	if (found == 0)
		found = store_egress_grant_list(store, x.now.realtime, examine, &x, &err);
	if (found < 0)
		preflight_report_add(
			r, NAME, PREFLIGHT_FAIL, error_remedy(&err), "%s", err.message);
}

void doctor_egress_broken(const struct problems *errors, struct preflight_report *r)
{
	for (size_t i = 0; i < errors->n; i++) {
		const struct problem *p = &errors->v[i];
		if (strcmp(p->code, error_code_text(ERROR_EGRESS_CIDR_METADATA)) == 0)
			preflight_report_add(
				r, NAME, PREFLIGHT_FAIL, p->remedy, "%s: %s", p->path, p->message);
	}
}
