#include "yaml/spans.h"

#include <yaml.h>

#include "base/mem.h"
#include "yaml/bytes.h"

enum { DEPTH_MAX = 16 };

/* libyaml counts characters; edits count bytes. */
struct offsets {
	size_t *of; /* byte offset of the i-th character, and of the end */
	size_t n;
};

struct builder {
	struct spans *spans;
	struct text source;
	struct offsets offsets;
	yaml_parser_t parser;
	struct span *open[DEPTH_MAX]; /* collections that are not closed */
	size_t depth;
};

void spans_done(struct spans *s)
{
	for (struct span *p = s->all, *next; p; p = next) {
		next = p->chained;
		free(p->storage);
		free(p);
	}
	*s = (struct spans){0};
}

static void count_characters(struct text t, struct offsets *ret)
{
	size_t at = bytes_mark_length(t), step = 1;
	uint32_t ignored;

	ret->of = mem_alloc((t.len + 2) * sizeof(*ret->of));
	for (; at < t.len; at += step) {
		ret->of[ret->n++] = at;
		step = utf8_next(text_after(t, at), &ignored);
		step = step ? step : 1;
	}
	ret->of[ret->n] = t.len;
}

static size_t byte_of(const struct builder *b, yaml_mark_t mark)
{
	return b->offsets.of[mark.index < b->offsets.n ? mark.index : b->offsets.n];
}

static struct span *new_span(struct builder *b, enum span_kind kind, const yaml_event_t *e)
{
	struct span *s = mem_alloc(sizeof(*s));

	s->kind = kind;
	s->begin = byte_of(b, e->start_mark);
	s->end = byte_of(b, e->end_mark);
	s->in_flow =
		b->depth > 0 && (b->open[b->depth - 1]->flow || b->open[b->depth - 1]->in_flow);
	s->chained = b->spans->all;
	b->spans->all = s;
	return s;
}

/* Puts it where it belongs: root, next item, next key, or value of the last key. */
static void place(struct builder *b, struct span *s)
{
	struct span *parent = b->depth ? b->open[b->depth - 1] : NULL;

	if (!parent) {
		b->spans->root = s;
	} else if (parent->kind == SPAN_MAPPING && parent->last && !parent->last->value) {
		parent->last->value = s;
	} else {
		if (parent->last)
			parent->last->next = s;
		else
			parent->first = s;
		parent->last = s;
	}
}

static bool null_text(const yaml_event_t *e)
{
	static const char *const words[] = {"", "~", "null", "Null", "NULL"};
	struct text t = {(const char *)e->data.scalar.value, e->data.scalar.length};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (text_is(t, words[i]))
			return e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	return false;
}

static void add_scalar(struct builder *b, const yaml_event_t *e)
{
	struct span *s = new_span(b, SPAN_SCALAR, e);
	const char *value = (const char *)e->data.scalar.value;

	s->null = null_text(e);
	/* A block scalar ends where the next token begins. */
	while (s->end > s->begin && ascii_blank(b->source.p[s->end - 1]))
		s->end--;
	s->storage = mem_strndup(value, e->data.scalar.length);
	s->text = (struct text){s->storage, e->data.scalar.length};
	place(b, s);
}

static int open_collection(struct builder *b, enum span_kind kind, bool flow, const yaml_event_t *e)
{
	if (b->depth == DEPTH_MAX)
		return -1;
	struct span *s = new_span(b, kind, e);
	s->flow = flow;
	place(b, s);
	b->open[b->depth++] = s;
	return 0;
}

static void close_collection(struct builder *b, const yaml_event_t *e)
{
	struct span *s = b->open[--b->depth];

	/* A block ends for libyaml where the next token begins: behind comments and blank lines. */
	if (s->flow)
		s->end = byte_of(b, e->end_mark);
	else if (s->last)
		s->end = s->last->value ? s->last->value->end : s->last->end;
}

/* 1 at the end of the stream, -1 on what is not expected. */
static int take_event(struct builder *b, const yaml_event_t *e)
{
	switch (e->type) {
	case YAML_STREAM_END_EVENT:
		return 1;
	case YAML_SCALAR_EVENT:
		add_scalar(b, e);
		return 0;
	case YAML_SEQUENCE_START_EVENT:
		return open_collection(b, SPAN_SEQUENCE,
			e->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE, e);
	case YAML_MAPPING_START_EVENT:
		return open_collection(
			b, SPAN_MAPPING, e->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE, e);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		close_collection(b, e);
		return 0;
	case YAML_ALIAS_EVENT:
		return -1;
	default:
		return 0;
	}
}

static int run(struct builder *b)
{
	yaml_event_t event;
	int result = 0;

	while (result == 0) {
		if (!yaml_parser_parse(&b->parser, &event))
			return -1;
		result = take_event(b, &event);
		yaml_event_delete(&event);
	}
	return result == 1 ? 0 : -1;
}

int spans_read(struct text bytes, struct spans *ret)
{
	AUTO(spans) spans = {0};
	struct builder b = {.spans = &spans, .source = bytes};

	if (!yaml_parser_initialize(&b.parser))
		return -1;
	count_characters(bytes, &b.offsets);
	yaml_parser_set_encoding(&b.parser, YAML_UTF8_ENCODING);
	size_t mark = bytes_mark_length(bytes);
	yaml_parser_set_input_string(
		&b.parser, (const unsigned char *)bytes.p + mark, bytes.len - mark);
	int result = run(&b);
	yaml_parser_delete(&b.parser);
	free(b.offsets.of);
	if (result < 0)
		return -1;
	*ret = spans;
	spans = (struct spans){0};
	return 0;
}

struct span *span_key(const struct span *mapping, struct text name)
{
	for (struct span *key = mapping->first; key; key = key->next)
		if (key->kind == SPAN_SCALAR && text_equal(key->text, name))
			return key;
	return NULL;
}
