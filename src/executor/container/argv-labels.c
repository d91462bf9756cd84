#include "executor/container/argv-labels.h"

#include <stdlib.h>

#include "executor/container/validate.h"

enum { RUN_LABELS_MAX = 32, OUR_LABELS_MAX = 10, VALUE_BYTES_MAX = 65536 };

struct label {
	struct str key;
	struct str value;
};
struct label_list {
	struct label v[RUN_LABELS_MAX + OUR_LABELS_MAX];
	size_t n;
};

static void label_list_done(struct label_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		str_done(&l->v[i].key);
		str_done(&l->v[i].value);
	}
}

static struct label *add(struct label_list *l, const char *key, struct text value)
{
	struct label *label = &l->v[l->n++];

	*label = (struct label){STR_INIT(256), STR_INIT(VALUE_BYTES_MAX)};
	str_add_text(&label->key, key);
	label_value(&label->value, value);
	return label;
}

static void add_given(struct label_list *l, const char *key, struct text value)
{
	if (value.len)
		add(l, key, value);
}

static void join_name(struct str *names, struct text name)
{
	if (names->len)
		str_add_char(names, ',');
	str_add(names, name.p, name.len);
}

static void add_grants(struct label_list *l, const struct container_request *r)
{
	AUTO(str) devices = STR_INIT(VALUE_BYTES_MAX);
	AUTO(str) interfaces = STR_INIT(VALUE_BYTES_MAX);

	for (size_t i = 0; i < r->n_devices; i++)
		join_name(&devices, r->devices[i].name);
	for (size_t i = 0; i < r->n_interfaces; i++)
		join_name(&interfaces, r->interfaces[i].name);
	add_given(l, "cloop.devices", text_of(str_text(&devices)));
	add_given(l, "cloop.interfaces", text_of(str_text(&interfaces)));
}

static void add_ours(struct label_list *l, const struct container_options *o,
	const struct container_request *r, const struct request_host *host)
{
	AUTO(str) disk = STR_INIT(32);

	if (r->has_limits && r->limits.disk_mb)
		str_addf(&disk, "%llu", (unsigned long long)r->limits.disk_mb);
	add(l, "cloop.managed", TEXT("true"));
	add(l, "cloop.executor", text_of(o->id));
	add(l, "cloop.handle", r->handle);
	add(l, "cloop.home", host->home_id);
	add(l, "cloop.project", r->work_dir);
	add_given(l, "cloop.sandbox", r->sandbox_sha256);
	add_given(l, "cloop.egress_scope", r->egress_scope);
	add_given(l, "cloop.disk_limit_mb", text_of(str_text(&disk)));
	add_grants(l, r);
}

/* A run's own label gets a prefix, so that it can never become one of ours. */
static int add_run_label(struct label_list *l, const struct request_label *given, struct error *err)
{
	struct label *label = add(l, "cloop.spec.", given->value);

	label_segment(&label->key, given->key);
	for (size_t i = 0; i + 1 < l->n; i++)
		if (text_is(text_of(str_text(&l->v[i].key)), str_text(&label->key)))
			return error_set(err, ERROR_LABEL_COLLISION,
				"two labels of the run become the same key %s",
				quoted_string(str_text(&label->key)));
	return 0;
}

static int by_key(const void *a, const void *b)
{
	const struct label *x = a, *y = b;

	return strcmp(str_text(&x->key), str_text(&y->key));
}

int argv_labels(const struct container_options *options, const struct container_request *request,
	const struct request_host *host, struct strv *ret, struct error *err)
{
	AUTO(label_list) l = {.n = 0};

	if (request->n_labels > RUN_LABELS_MAX)
		return error_set(err, ERROR_LABELS_TOO_MANY,
			"the run has %zu labels, at most %d are possible", request->n_labels,
			RUN_LABELS_MAX);
	add_ours(&l, options, request, host);
	for (size_t i = 0; i < request->n_labels; i++)
		if (add_run_label(&l, &request->labels[i], err) < 0)
			return -1;
	qsort(l.v, l.n, sizeof(l.v[0]), by_key);
	for (size_t i = 0; i < l.n; i++)
		strv_addf(ret, "--label=%s=%s", str_text(&l.v[i].key), str_text(&l.v[i].value));
	return 0;
}
