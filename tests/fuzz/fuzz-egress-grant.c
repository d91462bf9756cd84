/*
 * Grants and sessions of the proxy (network.md §11.1, §12.1): what is read keeps its bounds, is in
 * its normal form, and reads as the same again. What is no JSON is read as a size, and as addresses
 * to listen on and to advertise.
 */
#include <assert.h>

#include "egress/remote.h"
#include "egress/session.h"
#include "json-mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_bounds(const struct egress_grant *g)
{
	assert(g->id && g->hosts.n + g->n_cidrs > 0 && g->n_ports > 0 && g->methods.n > 0);
	assert(g->n_ports <= EGRESS_GRANT_PORTS_MAX && g->ports[0] > 0);
	for (size_t i = 1; i < g->n_ports; i++)
		assert(g->ports[i - 1] < g->ports[i]);
	for (size_t i = 1; i < g->hosts.n; i++)
		assert(strcmp(g->hosts.v[i - 1], g->hosts.v[i]) < 0);
	for (size_t i = 1; i < g->n_cidrs; i++)
		assert(cidr_compare(&g->cidrs[i - 1], &g->cidrs[i]) < 0);
	assert(g->max_bytes_up <= EGRESS_GRANT_BYTES_MAX && g->session_ttl_s >= 60 &&
		g->session_ttl_s <= 14400);
	assert(!g->expires_at_ns || g->expires_at_ns > g->created_at_ns);
}

static void check_grant(json_t *object)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(egress_grant) g;
	AUTO(egress_grant) h;

	if (egress_grant_read(object, &g, &err) < 0) {
		assert(json_object_get(err.details, "path"));
		h = (struct egress_grant){.id = NULL};
		return;
	}
	check_bounds(&g);
	auto_json *first = egress_grant_to_json(&g);
	int r = egress_grant_read(first, &h, &err);
	assert(r == 0);
	auto_json *second = egress_grant_to_json(&h);
	assert(first && json_equal(first, second));
}

static void check_session(json_t *object)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(egress_session) s;
	AUTO(egress_session) t = {.deadline_ms = 0};

	if (egress_session_read(object, &s, &err) < 0)
		return;
	assert(s.deadline_ms >= 0 && s.max_connections <= EGRESS_SESSION_CONNECTIONS_MAX);
	auto_json *first = egress_session_to_json(&s);
	int r = egress_session_read(first, &t, &err);
	assert(first && r == 0);
	auto_json *second = egress_session_to_json(&t);
	assert(json_equal(first, second));
}

static void check_words(struct text t)
{
	auto_error struct error err = ERROR_INIT;
	uint64_t bytes;

	if (egress_grant_bytes(t, &bytes, &err) == 0)
		assert(bytes <= EGRESS_GRANT_BYTES_MAX);
	else
		assert(error_is(&err, ERROR_EGRESS_QUOTA_INVALID));
	if (remote_check_listen(t, &err) < 0)
		assert(error_is(&err, ERROR_EGRESS_LISTEN_INVALID));
	else
		assert(remote_check_advertise(t, &err) == 0 || text_has(t, "169.254.") ||
			text_starts_nocase(t, "[fe"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_error struct error err = ERROR_INIT;
	struct text t = {(const char *)data, size};
	auto_json *object = json_read(t, size, "grant", ERROR_IO, &err);

	check_words(t);
	if (!object)
		return 0;
	check_grant(object);
	check_session(object);
	return 0;
}
