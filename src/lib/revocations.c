#include "lib/revocations.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "lib/strings.h"
#include "sys/clock.h"

struct lib_revocations {
	pthread_mutex_t lock;
	struct lib_revocation v[LIB_REVOCATIONS_MAX]; /* number n at n % MAX */
	uint64_t n;                                   /* ever begun */
};

/* ---- One ---- */

static struct lib_revocation empty(void)
{
	return (struct lib_revocation){.runs = STRV_INIT(LIB_REVOCATION_RUNS_MAX),
		.files = STRV_INIT(LIB_REVOCATION_RUNS_MAX)};
}

void lib_revocation_init(struct lib_revocation *r, const struct cloop_revoke_request *request)
{
	*r = empty();
	r->lease = mem_strdup(lib_text(request->lease));
	r->grant = mem_strdup(lib_text(request->grant));
	r->begun_ns = clock_realtime_ns();
}

void lib_revocation_done(struct lib_revocation *r)
{
	strv_done(&r->runs);
	strv_done(&r->files);
	free(r->lease);
	free(r->grant);
	free(r->reason);
	free(r->remediation);
	*r = empty();
}

static struct lib_revocation copy(const struct lib_revocation *r)
{
	struct lib_revocation c = *r;

	c.runs = STRV_INIT(LIB_REVOCATION_RUNS_MAX);
	c.files = STRV_INIT(LIB_REVOCATION_RUNS_MAX);
	strv_add_all(&c.runs, &r->runs);
	strv_add_all(&c.files, &r->files);
	c.lease = mem_strdup(r->lease);
	c.grant = mem_strdup(r->grant);
	c.reason = r->reason ? mem_strdup(r->reason) : NULL;
	c.remediation = r->remediation ? mem_strdup(r->remediation) : NULL;
	return c;
}

/* What a caller gets, and what its members point into. */
struct given {
	struct cloop_revoke_outcome shown; /* first: its address is the object's */
	struct lib_revocation held;
};

static const char *const *shown_list(const struct strv *list)
{
	return list->v ? (const char *const *)list->v : lib_strings_none();
}

struct cloop_revoke_outcome *lib_revocation_give(const struct lib_revocation *r)
{
	struct given *g = mem_alloc(sizeof(*g));

	g->held = copy(r);
	g->shown = (struct cloop_revoke_outcome){
		.lease = g->held.lease,
		.grant = g->held.grant,
		.state = r->state,
		.held = r->held,
		.killed = r->killed,
		.sessions = r->sessions,
		.runs = shown_list(&g->held.runs),
		.files = shown_list(&g->held.files),
		.reason = lib_text(g->held.reason),
		.remediation = lib_text(g->held.remediation),
		.begun_ns = r->begun_ns,
		.ended_ns = r->ended_ns,
	};
	return &g->shown;
}

void cloop_revoke_outcome_free(struct cloop_revoke_outcome *outcome)
{
	struct given *g = (struct given *)outcome;

	if (!g)
		return;
	lib_revocation_done(&g->held);
	free(g);
}

void cloop_revoke_outcomes_free(struct cloop_revoke_outcome **outcomes)
{
	for (struct cloop_revoke_outcome **o = outcomes; o && *o; o++)
		cloop_revoke_outcome_free(*o);
	free(outcomes);
}

void cloop_revoke_request_init(struct cloop_revoke_request *request)
{
	if (request)
		memset(request, 0, sizeof(*request));
}

/* ---- The list ---- */

struct lib_revocations *lib_revocations_new(void)
{
	struct lib_revocations *l = mem_alloc(sizeof(*l));

	pthread_mutex_init(&l->lock, NULL);
	return l;
}

void lib_revocations_free(struct lib_revocations *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < LIB_REVOCATIONS_MAX; i++)
		lib_revocation_done(&l->v[i]);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

uint64_t lib_revocations_begin(struct lib_revocations *l, const struct lib_revocation *r)
{
	struct lib_revocation pending = copy(r);

	pthread_mutex_lock(&l->lock);
	uint64_t number = l->n++;
	struct lib_revocation *slot = &l->v[number % LIB_REVOCATIONS_MAX];
	struct lib_revocation before = *slot;
	*slot = pending;
	pthread_mutex_unlock(&l->lock);
	lib_revocation_done(&before);
	return number;
}

void lib_revocations_end(struct lib_revocations *l, uint64_t number, struct lib_revocation *r)
{
	pthread_mutex_lock(&l->lock);
	/* Others may have taken its place meanwhile. */
	if (l->n - number <= LIB_REVOCATIONS_MAX) {
		struct lib_revocation *slot = &l->v[number % LIB_REVOCATIONS_MAX];
		struct lib_revocation before = *slot;
		*slot = *r;
		*r = before;
	}
	pthread_mutex_unlock(&l->lock);
	lib_revocation_done(r);
}

struct cloop_revoke_outcome **lib_revocations_give(struct lib_revocations *l)
{
	pthread_mutex_lock(&l->lock);
	uint64_t first = l->n > LIB_REVOCATIONS_MAX ? l->n - LIB_REVOCATIONS_MAX : 0;
	struct cloop_revoke_outcome **v = mem_alloc((size_t)(l->n - first + 1) * sizeof(*v));
	for (uint64_t i = first; i < l->n; i++)
		v[i - first] = lib_revocation_give(&l->v[i % LIB_REVOCATIONS_MAX]);
	pthread_mutex_unlock(&l->lock);
	return v;
}
