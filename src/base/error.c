#define ERROR_HOME
#include "base/error.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

struct fact {
	const char *text;
	int http;
	int run_exit;
	const char *remedy;
};

static const struct fact facts[ERROR_CODE_COUNT] = {
	[ERROR_NONE] = {"none", 200, 0, ""},
#define ERROR(id, text, http, exit, remedy) [ERROR_##id] = {text, http, exit, remedy},
#include "base/error-list.h"
#undef ERROR
};

void error_done(struct error *err)
{
	json_decref(err->details);
	err->details = NULL;
}

void error_clear(struct error *err)
{
	error_done(err);
	*err = ERROR_INIT;
}

/* Copies at most ERROR_TEXT_MAX bytes, cut at a character border. */
static void copy_bounded(char *to, const char *text)
{
	size_t n = utf8_cut(text_of(text), ERROR_TEXT_MAX);

	memmove(to, text, n);
	to[n] = '\0';
}

static void printf_like(2, 0) fill(char *to, const char *fmt, va_list ap)
{
	auto_free char *text = mem_vprintf(fmt, ap);

	copy_bounded(to, text);
}

int error_set(struct error *err, enum error_code code, const char *fmt, ...)
{
	va_list ap;
	struct error fresh = {.code = code};

	va_start(ap, fmt);
	fill(fresh.message, fmt, ap);
	va_end(ap);
	error_done(err);
	*err = fresh;
	return -1;
}

int error_set_errno(struct error *err, enum error_code code, int errnum, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	auto_free char *text = mem_vprintf(fmt, ap);
	va_end(ap);
	return error_set(err, code, "%s: %s", text, strerror(errnum));
}

int error_set_remedy(struct error *err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fill(err->remedy, fmt, ap);
	va_end(ap);
	return -1;
}

int error_prefix(struct error *err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	auto_free char *prefix = mem_vprintf(fmt, ap);
	va_end(ap);
	auto_free char *text = mem_printf("%s: %s", prefix, err->message);
	copy_bounded(err->message, text);
	return -1;
}

int error_add_detail(struct error *err, const char *key, json_t *value)
{
	if (!err->details)
		err->details = json_object();
	json_object_set_new(err->details, key, value);
	return -1;
}

void error_move(struct error *to, struct error *from)
{
	error_done(to);
	*to = *from;
	*from = ERROR_INIT;
}

static const struct fact *fact_of(enum error_code code)
{
	assert((size_t)code < ERROR_CODE_COUNT);
	return &facts[code];
}

const char *error_code_text(enum error_code code)
{
	return fact_of(code)->text;
}

enum error_code error_code_from_text(struct text code)
{
	for (size_t i = 1; i < ERROR_CODE_COUNT; i++)
		if (text_is(code, facts[i].text))
			return (enum error_code)i;
	return ERROR_NONE;
}

int error_code_http(enum error_code code)
{
	return fact_of(code)->http;
}

int error_code_run_exit(enum error_code code)
{
	return fact_of(code)->run_exit;
}

const char *error_remedy(const struct error *err)
{
	return err->remedy[0] ? err->remedy : fact_of(err->code)->remedy;
}

json_t *error_to_json(const struct error *err)
{
	/* A message may quote bytes that are no UTF-8 (paths); jansson would refuse the string. */
	AUTO(str) message = STR_INIT(8 * ERROR_TEXT_MAX);
	AUTO(str) remedy = STR_INIT(8 * ERROR_TEXT_MAX);

	text_escape(&message, text_of(err->message), ERROR_TEXT_MAX);
	text_escape(&remedy, text_of(error_remedy(err)), ERROR_TEXT_MAX);
	json_t *envelope = json_pack("{s:s, s:s, s:i, s:s}", "error", str_text(&message), "code",
		error_code_text(err->code), "status", error_code_http(err->code), "remediation",
		str_text(&remedy));
	if (err->details)
		json_object_update(envelope, err->details);
	return envelope;
}

static const char *string_member(const json_t *object, const char *key)
{
	const char *s = json_string_value(json_object_get(object, key));

	return s ? s : "";
}

void error_from_json(struct error *err, json_t *envelope)
{
	enum error_code code = error_code_from_text(text_of(string_member(envelope, "code")));

	error_set(err, code ? code : ERROR_INTERNAL, "%s", string_member(envelope, "error"));
	error_set_remedy(err, "%s", string_member(envelope, "remediation"));
	const char *key;
	json_t *value;
	json_object_foreach(envelope, key, value) if (strcmp(key, "error") && strcmp(key, "code") &&
						      strcmp(key, "status") &&
						      strcmp(key, "remediation"))
		error_add_detail(err, key, json_incref(value));
}
