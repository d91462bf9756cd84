#include "executor/container/launch.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"

void launch_done(struct launch *l)
{
	for (size_t i = 0; i < l->n_replaced; i++)
		secret_done(&l->replaced[i]);
	free(l->replaced);
	secret_done(&l->block);
	free(l->run_env.v);
	free(l->expected.v);
	*l = LAUNCH_INIT;
}

int launch_add(struct strv *list, const char *text)
{
	return list->n < list->max ? strv_take(list, (char *)(uintptr_t)text) : -1;
}

/* ---- Writing ---- */

/* A text with its NUL, and its first byte in front; `pieces` has room. */
static void put(struct text *pieces, size_t *n, const char *kind, struct text value)
{
	pieces[(*n)++] = (struct text){kind, 1};
	pieces[(*n)++] = value;
	pieces[(*n)++] = (struct text){"", 1};
}

static void put_list(struct text *pieces, size_t *n, const char *kind, const struct strv *list)
{
	for (size_t i = 0; i < list->n; i++)
		put(pieces, n, kind, text_of(list->v[i]));
}

void launch_write(const struct launch *l, struct secret *ret)
{
	size_t fields = l->run_env.n + l->expected.n + l->n_files + 3, n = 0;
	auto_free struct text *pieces = mem_grow(NULL, 3 * fields, sizeof(*pieces));
	char sizes[LAUNCH_FILES_MAX][24], deadline[24];

	put_list(pieces, &n, "r", &l->run_env);
	put_list(pieces, &n, "e", &l->expected);
	for (size_t i = 0; i < l->n_files; i++) {
		snprintf(sizes[i], sizeof(sizes[i]), "%zu", l->file_sizes[i]);
		put(pieces, &n, "s", text_of(sizes[i]));
	}
	if (l->env_file)
		put(pieces, &n, "f", text_of(l->env_file));
	if (l->egress_token.p)
		put(pieces, &n, "t", l->egress_token);
	snprintf(deadline, sizeof(deadline), "%lld", (long long)l->egress_deadline_ms);
	put(pieces, &n, "d", text_of(deadline));
	secret_concat(pieces, n, ret);
}

/* ---- Reading ---- */

static int take_run_env(struct launch *l, const char *value)
{
	return launch_add(&l->run_env, value);
}

static int take_expected(struct launch *l, const char *value)
{
	return launch_add(&l->expected, value);
}

static int take_size(struct launch *l, const char *value)
{
	uint64_t size;

	if (l->n_files == LAUNCH_FILES_MAX || num_parse(text_of(value), INT64_MAX, &size) != NUM_OK)
		return -1;
	l->file_sizes[l->n_files++] = (size_t)size;
	return 0;
}

static int take_env_file(struct launch *l, const char *value)
{
	l->env_file = (char *)(uintptr_t)value;
	return 0;
}

static int take_token(struct launch *l, const char *value)
{
	l->egress_token = text_of(value);
	return 0;
}

static int take_deadline(struct launch *l, const char *value)
{
	uint64_t deadline;

	if (num_parse(text_of(value), INT64_MAX, &deadline) != NUM_OK)
		return -1;
	l->egress_deadline_ms = (int64_t)deadline;
	return 0;
}

static int take(struct launch *l, const char *field)
{
	static const struct {
		char kind;
		int (*take)(struct launch *l, const char *value);
	} kinds[] = {
		{'r', take_run_env},
		{'e', take_expected},
		{'s', take_size},
		{'f', take_env_file},
		{'t', take_token},
		{'d', take_deadline},
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (field[0] == kinds[i].kind)
			return kinds[i].take(l, field + 1);
	return -1;
}

int launch_read(struct secret *block, struct launch *ret, struct error *err)
{
	const char *at = block->p, *end = at + block->len;

	ret->block = *block;
	*block = (struct secret){.p = NULL};
	/* The one behind a block that does not end with a NUL is not its own. */
	while (at < end) {
		if (take(ret, at) < 0)
			return error_set(err, ERROR_IO, "the launch block is not of its format");
		at += strlen(at) + 1;
	}
	return at == end ? 0 : error_set(err, ERROR_IO, "the launch block is cut off");
}

/* ---- Changing ---- */

void launch_replace(struct launch *l, char **text, const char *from, struct text to)
{
	const char *at;

	while (*text && (at = strstr(*text, from))) {
		l->replaced = mem_grow(l->replaced, l->n_replaced + 1, sizeof(*l->replaced));
		struct secret *s = &l->replaced[l->n_replaced++];
		SECRET_CONCAT(s, ((struct text){*text, (size_t)(at - *text)}), to,
			text_of(at + strlen(from)));
		*text = s->p;
	}
}
