/*
 * Mutations of JSON, for targets that read it: jansson is not instrumented, so that libFuzzer gets
 * no sign of how close bytes are to its grammar. Values are changed, moved, doubled and crossed
 * between inputs; what is no JSON, and one input of four, is changed as bytes.
 *
 * A target may define before it includes this: JSON_AT(data, size), where JSON begins (0), and
 * JSON_FIX(data, size), which mends what stands in front of it. What follows the JSON is kept.
 */
#pragma once

#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/mem.h"

#ifndef JSON_AT
#define JSON_AT(data, size) ((size_t)0)
#endif
#ifndef JSON_FIX
#define JSON_FIX(data, size) ((void)0)
#endif

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
	uint8_t *out, size_t max, unsigned seed);

enum { JSON_MUTATE_GROWTH = 64, JSON_MUTATE_KEY = 64 };

static uint64_t json_mutate_state;

static unsigned json_roll(size_t n)
{
	json_mutate_state = json_mutate_state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (unsigned)((json_mutate_state >> 33) % n);
}

/* Where a value stands: a member of an object (key), or an item of an array. */
struct json_place {
	json_t *parent;
	const char *key;
	size_t index;
	json_t *value;
};

/* The left-th place below value, or as many fewer as there are. */
static bool json_find_place(json_t *value, size_t *left, struct json_place *ret)
{
	const char *key;
	size_t i;
	json_t *item;

	json_object_foreach(value, key, item)
	{
		*ret = (struct json_place){.parent = value, .key = key, .value = item};
		if ((*left)-- == 0 || json_find_place(item, left, ret))
			return true;
	}
	json_array_foreach(value, i, item)
	{
		*ret = (struct json_place){.parent = value, .index = i, .value = item};
		if ((*left)-- == 0 || json_find_place(item, left, ret))
			return true;
	}
	return false;
}

static bool json_any_place(json_t *root, struct json_place *ret)
{
	size_t far = SIZE_MAX;

	(void)json_find_place(root, &far, ret);
	size_t n = SIZE_MAX - far, left = n ? json_roll(n) : 0;
	return n > 0 && json_find_place(root, &left, ret);
}

/* value is taken. */
static void json_put(const struct json_place *p, json_t *value)
{
	if (p->key)
		json_object_set_new(p->parent, p->key, value);
	else
		json_array_set_new(p->parent, p->index, value);
}

static json_t *json_plain(void)
{
	static const char *const texts[] = {"null", "true", "false", "0", "1", "-1", "65536",
		"9223372036854775807", "-9223372036854775808", "1.5", "\"\"", "[]", "{}",
		"{\"hex\":\"ff\"}", "\"a\\u0000b\"", "\"\\u007f\\u0085\""};

	return json_loads(
		texts[json_roll(ARRAY_SIZE(texts))], JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
}

/* The text as libFuzzer changes it; NULL: that is no UTF-8. */
static json_t *json_changed_text(struct text t)
{
	size_t room = t.len + JSON_MUTATE_GROWTH;
	auto_free char *bytes = mem_alloc(room + 1);

	if (t.len > 0)
		memcpy(bytes, t.p, t.len);
	return json_stringn(bytes, LLVMFuzzerMutate((uint8_t *)bytes, t.len, room));
}

static json_t *json_changed(const json_t *value)
{
	json_t *text = NULL;

	if (json_is_string(value) && json_roll(8) > 0)
		text = json_changed_text(json_text(value));
	else if (json_is_integer(value) && json_roll(4) > 0)
		return json_integer(json_integer_value(value) + (json_int_t)json_roll(5) - 2);
	return text ? text : json_plain();
}

/* Adds a value to an object or array below root, or to root. */
static void json_insert(json_t *root)
{
	struct json_place to, from;
	json_t *into = json_any_place(root, &to) && json_roll(3) > 0 ? to.value : root;
	json_t *value = json_any_place(root, &from) && json_roll(2) ? json_deep_copy(from.value)
								    : json_plain();

	if (json_is_array(into)) {
		json_array_insert_new(into, json_roll(json_array_size(into) + 1), value);
		return;
	}
	auto_json *key = json_changed_text(json_roll(2) && from.key && json_object_size(root)
						   ? text_of(from.key)
						   : (struct text){"", 0});
	char name[JSON_MUTATE_KEY];
	snprintf(name, sizeof(name), "%s", key ? json_string_value(key) : "x");
	json_object_set_new(into, name, value);
}

static void json_mutate(json_t *root)
{
	struct json_place p;

	if (json_roll(4) == 0 || !json_any_place(root, &p)) {
		json_insert(root);
		return;
	}
	if (json_roll(6) > 0)
		json_put(&p, json_changed(p.value));
	else if (p.key)
		json_object_del(p.parent, p.key);
	else
		json_array_remove(p.parent, p.index);
}

/* The JSON of an input; *ret_end: what follows it. NULL: it has none. */
static json_t *json_of_input(const uint8_t *data, size_t size, size_t *ret_end)
{
	size_t at = JSON_AT(data, size);
	json_error_t where;

	if (at >= size)
		return NULL;
	json_t *root = json_loadb((const char *)data + at, size - at,
		JSON_DISABLE_EOF_CHECK | JSON_ALLOW_NUL | JSON_DECODE_ANY, &where);
	*ret_end = root ? at + (size_t)where.position : 0;
	return root;
}

/* Writes an input whose JSON is root, around it what `like` has; 0: no room. */
static size_t json_to_input(
	const json_t *root, const uint8_t *like, size_t size, size_t end, uint8_t *out, size_t max)
{
	size_t at = JSON_AT(like, size), tail = size - end;
	size_t n = json_dumpb(root, NULL, 0, JSON_COMPACT | JSON_ENCODE_ANY);
	auto_free char *text = mem_alloc(n + tail + 1);

	if (n == 0 || at + n + tail > max)
		return 0;
	json_dumpb(root, text, n, JSON_COMPACT | JSON_ENCODE_ANY);
	memcpy(text + n, like + end, tail);
	memmove(out, like, at);
	memcpy(out + at, text, n + tail);
	JSON_FIX(out, at + n);
	return at + n + tail;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	size_t end;

	json_mutate_state = seed;
	auto_json *root = json_roll(4) ? json_of_input(data, size, &end) : NULL;
	if (root) {
		json_mutate(root);
		size_t n = json_to_input(root, data, size, end, data, max);
		if (n > 0)
			return n;
	}
	return LLVMFuzzerMutate(data, size, max);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
	uint8_t *out, size_t max, unsigned seed)
{
	struct json_place to, from;
	size_t end, ignored;

	json_mutate_state = seed;
	auto_json *into = json_of_input(a, a_size, &end);
	auto_json *other = json_of_input(b, b_size, &ignored);
	if (!into || !other || !json_any_place(other, &from))
		return 0;
	if (from.key && json_is_object(into) && json_roll(2))
		json_object_set_new(into, from.key, json_deep_copy(from.value));
	else if (json_any_place(into, &to))
		json_put(&to, json_deep_copy(from.value));
	return json_to_input(into, a, a_size, end, out, max);
}
