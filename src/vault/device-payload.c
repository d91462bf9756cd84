#include "vault/device-payload.h"

#include "base/mem.h"
#include "base/path.h"
#include "vault/grant-constraint.h"
#include "vault/payload-lines.h"
#include "vault/payload.h"

enum { SOURCE_MAX = 256, FIELDS_MAX = 3 };

static void entry_done(struct device_entry *d)
{
	free(d->name);
	free(d->source);
	free(d->target);
}

void device_payload_done(struct device_payload *p)
{
	for (size_t i = 0; i < p->n; i++)
		entry_done(&p->v[i]);
	free(p->v);
	*p = (struct device_payload){.v = NULL};
}

/* ---- What is never given ---- */

/* Below /dev: exactly these. */
static const char *const forbidden_names[] = {"mem", "kmem", "port", "kcore", "kmsg", "nvram",
	"oldmem", "msr", "cpu_dma_latency", "snapshot", "mapper/control", "loop-control",
	"btrfs-control", "uinput", "uhid", "console", "ptmx", "stdin", "stdout", "stderr"};
/* Whatever begins so. */
static const char *const forbidden_prefixes[] = {"vhost-", "vcs", "hugepages"};
/* These, and all below them. */
static const char *const forbidden_trees[] = {"cpu", "pts", "fd", "shm", "mqueue"};

/* `tty` and digits: a virtual console. */
static bool is_console(struct text below_dev)
{
	if (!text_starts(below_dev, "tty") || below_dev.len == 3)
		return false;
	for (size_t i = 3; i < below_dev.len; i++)
		if (!ascii_digit(below_dev.p[i]))
			return false;
	return true;
}

bool device_payload_forbidden(struct text path)
{
	struct text below_dev = text_after(path, strlen("/dev/"));

	for (size_t i = 0; i < ARRAY_SIZE(forbidden_names); i++)
		if (text_is(below_dev, forbidden_names[i]))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(forbidden_prefixes); i++)
		if (text_starts(below_dev, forbidden_prefixes[i]))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(forbidden_trees); i++)
		if (path_at_or_below(below_dev, text_of(forbidden_trees[i])))
			return true;
	return is_console(below_dev);
}

/* ---- Entries ---- */

/* NULL, or what is wrong with it. */
static const char *path_fault(struct text path)
{
	if (!path_clean(path) || path.len > SOURCE_MAX || text_has_control(path) ||
		text_has_byte(path, ' '))
		return "path";
	return text_starts(path, "/dev/") ? NULL : "path_not_dev";
}

static const char *mode_of(struct text t)
{
	static const char *const modes[] = {"r", "rw", "rwm"};

	for (size_t i = 0; i < ARRAY_SIZE(modes); i++)
		if (text_is(t, modes[i]))
			return modes[i];
	return NULL;
}

/* One line, as views. */
struct parsed {
	struct text name, source, target;
	const char *mode;
};

static const char *parse_fields(struct text value, struct parsed *ret)
{
	struct text fields[FIELDS_MAX] = {{NULL, 0}}, mode = TEXT("r"), field;
	size_t n = 0;

	while (text_split(&value, ':', &field)) {
		if (n == FIELDS_MAX)
			return "syntax";
		fields[n++] = field;
	}
	bool target = n == FIELDS_MAX || (n == 2 && text_starts(fields[1], "/"));
	ret->source = fields[0];
	ret->target = target ? fields[1] : fields[0];
	if (n > (target ? 2u : 1u))
		mode = fields[n - 1];
	const char *fault = path_fault(ret->source);
	if (!fault)
		fault = path_fault(ret->target);
	ret->mode = mode_of(mode);
	return fault ? fault : ret->mode ? NULL : "perm";
}

static bool name_taken(const struct device_payload *p, struct text name)
{
	for (size_t i = 0; i < p->n; i++)
		if (text_is(name, p->v[i].name))
			return true;
	return false;
}

static bool target_taken(const struct device_payload *p, struct text target)
{
	for (size_t i = 0; i < p->n; i++)
		if (text_is(target, p->v[i].target))
			return true;
	return false;
}

static const char *parse_entry(const struct device_payload *p, struct text line, struct parsed *ret)
{
	struct text value = line;

	text_split(&value, '=', &ret->name);
	if (!value.p)
		return "syntax";
	if (!grant_constraints_item_name(ret->name))
		return "name";
	if (name_taken(p, ret->name))
		return "duplicate_name";
	const char *fault = parse_fields(value, ret);
	if (fault)
		return fault;
	if (device_payload_forbidden(ret->source))
		return "forbidden";
	return target_taken(p, ret->target) ? "duplicate_target" : NULL;
}

static int add_entry(void *context, struct text line, unsigned number, struct error *err)
{
	struct device_payload *p = context;
	struct parsed d = {.mode = NULL};
	const char *fault = parse_entry(p, line, &d);

	if (fault)
		return payload_invalid(err, number, fault);
	p->v = mem_grow(p->v, p->n + 1, sizeof(*p->v));
	p->v[p->n++] = (struct device_entry){mem_strndup(d.name.p, d.name.len),
		mem_strndup(d.source.p, d.source.len), mem_strndup(d.target.p, d.target.len),
		d.mode};
	return 0;
}

int device_payload_read(struct text payload, struct device_payload *ret, struct error *err)
{
	AUTO(device_payload) p = {.v = NULL};

	if (payload_lines_read(payload, add_entry, &p, err) < 0)
		return -1;
	*ret = p;
	p = (struct device_payload){.v = NULL};
	return 0;
}

/* ---- What a grant gives of it ---- */

int device_payload_select(struct device_payload *p, const struct strv *names, struct error *err)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->n; i++) {
		if (strv_has(names, p->v[i].name))
			p->v[kept++] = p->v[i];
		else
			entry_done(&p->v[i]);
	}
	p->n = kept;
	if (kept == 0)
		return error_set(err, ERROR_DEVICE_NONE, "the grant names no device of the secret");
	return 0;
}

const char *device_payload_mode(const struct device_entry *d, bool writable)
{
	return writable ? d->mode : "r";
}

char *device_payload_names(const struct device_payload *p)
{
	AUTO(strv) names = STRV_INIT(PAYLOAD_LINES_MAX);

	for (size_t i = 0; i < p->n; i++)
		strv_add(&names, p->v[i].name);
	return strv_join(&names, ",");
}
