#include "run/doctor-limits.h"

#include <string.h>

#include "base/mem.h"
#include "limits/render.h"
#include "run/ceilings.h"
#include "run/context.h"
#include "store/ceiling.h"

#define LIMITS "limits"

struct examination {
	const struct context *context;
	struct preflight_report *report;
	size_t stored;
	bool faults;
};

static void add_fault(
	struct examination *x, enum preflight_level level, const char *fix, const char *message)
{
	preflight_report_add(x->report, LIMITS, level, fix, "%s", message);
	x->faults = true;
}

static void add_unheld(void *data, const char *sentence)
{
	add_fault(data, PREFLIGHT_WARN, "runs there are not bounded by it: let them run elsewhere",
		sentence);
}

static void check_row(void *data, const struct store_ceiling *row)
{
	auto_error struct error err = ERROR_INIT;
	struct examination *x = data;
	const struct executor_list *executors = &x->context->executors;
	auto_free char *subject = mem_strndup(row->subject.p, row->subject.len);

	x->stored++;
	if (ceilings_check_stored(row->source, subject, &row->limits, &err) < 0) {
		auto_free char *message =
			row->source == CEILING_PROJECT
				? mem_printf("%s: %s", quoted_string(subject), err.message)
				: mem_strdup(err.message);
		add_fault(x, PREFLIGHT_FAIL, error_remedy(&err), message);
	}
	for (size_t i = 0; row->source == CEILING_EXECUTOR && i < executors->n; i++)
		if (strcmp(executors->items[i]->id, subject) == 0)
			ceilings_unheld_by(&row->limits, executors->items[i], add_unheld, x);
}

static void check_stored(struct examination *x)
{
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(store) store = NULL;
	const char *home = x->context->home.path;
	int r = home ? store_open_existing(home, &store, &err) : 1;

	if (r < 0 || (r == 0 && store_ceiling_list(store, check_row, x, &err) < 0))
		add_fault(x, PREFLIGHT_FAIL, error_remedy(&err), err.message);
}

void doctor_limits(const struct context *c, struct preflight_report *r)
{
	struct examination x = {.context = c, .report = r};
	auto_free char *fleet = render_ceiling(&c->config.fleet);

	for (size_t i = 0; i < c->executors.n; i++)
		ceilings_unheld_by(&c->config.fleet, c->executors.items[i], add_unheld, &x);
	check_stored(&x);
	if (!x.faults)
		preflight_report_add(r, LIMITS, PREFLIGHT_OK, "",
			"the fleet's ceiling: %s; %zu more of executors and projects", fleet,
			x.stored);
}
