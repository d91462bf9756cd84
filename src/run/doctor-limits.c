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

static void check_held(struct examination *x, const struct executor *e, const struct limits *l)
{
	struct candidate able = {0};
	bool unheld[RESOURCE_COUNT];

	if (executor_unavailable_reason(e))
		return;
	executor_capabilities(e, &able);
	ceilings_unheld(l, &able, unheld);
	for (enum resource r = 0; r < RESOURCE_COUNT; r++) {
		auto_free char *line = render_unenforced(r, e->id);
		if (unheld[r])
			add_fault(x, PREFLIGHT_WARN,
				"runs there are not bounded by it: let them run elsewhere", line);
	}
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
			check_held(x, executors->items[i], &row->limits);
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
		check_held(&x, c->executors.items[i], &c->config.fleet);
	check_stored(&x);
	if (!x.faults)
		preflight_report_add(r, LIMITS, PREFLIGHT_OK, "",
			"the fleet's ceiling: %s; %zu more of executors and projects", fleet,
			x.stored);
}
