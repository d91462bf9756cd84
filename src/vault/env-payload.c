#include "vault/env-payload.h"

#include "base/enum-text.h"
#include "base/json-secret.h"
#include "base/mem.h"
#include "vault/payload.h"

enum { NAME_BYTES_MAX = 256 }; /* container-driver.md §5.10 */

static const char *const formats[] = {
	[ENV_FORMAT_AUTO] = "auto",
	[ENV_FORMAT_VALUE] = "value",
	[ENV_FORMAT_OBJECT] = "object",
};
ENUM_TEXT(env_format, formats, ENV_FORMAT_COUNT)

static void variable_done(struct env_variable *v)
{
	free(v->name);
	secret_done(&v->value);
}

void env_payload_done(struct env_payload *p)
{
	for (size_t i = 0; i < p->n; i++)
		variable_done(&p->v[i]);
	free(p->v);
	*p = (struct env_payload){.v = NULL};
}

/* The secret's name as a variable. */
static char *derive_name(struct text secret)
{
	AUTO(str) out = STR_INIT(secret.len + 1);

	if (secret.len > 0 && ascii_digit(secret.p[0]))
		str_add_char(&out, '_');
	for (size_t i = 0; i < secret.len; i++) {
		char c = secret.p[i];
		if (ascii_lower(c))
			c = (char)(c - 'a' + 'A');
		str_add_char(&out, ascii_alnum(c) ? c : '_');
	}
	return str_take(&out);
}

static bool name_valid(struct text t)
{
	return t.len >= 1 && t.len <= NAME_BYTES_MAX && !ascii_digit(t.p[0]) &&
	       text_all_word(t, "_");
}

/* NULL, or what is wrong with the variable. */
static const char *variable_fault(struct text name, struct text value)
{
	if (!name_valid(name))
		return "name";
	if (text_starts(name, "CLOOP_"))
		return "reserved";
	if (value.len == 0)
		return "empty";
	if (text_has_byte(value, '\0'))
		return "nul";
	if (name.len + 1 + value.len > ENV_PAYLOAD_VARIABLE_MAX)
		return "too_long";
	return NULL;
}

static int add_variable(
	struct env_payload *p, struct text name, struct text value, struct error *err)
{
	const char *fault = variable_fault(name, value);

	if (fault)
		return payload_invalid(err, 0, fault);
	p->v = mem_grow(p->v, p->n + 1, sizeof(*p->v));
	struct env_variable *v = &p->v[p->n++];
	v->name = mem_strndup(name.p, name.len);
	SECRET_CONCAT(&v->value, value);
	return 0;
}

/* `[A-Z_][A-Z0-9_]*` */
static bool member_name(struct text t)
{
	for (size_t i = 0; i < t.len; i++)
		if (ascii_lower(t.p[i]))
			return false;
	return t.len > 0 && !ascii_digit(t.p[0]) && text_all_word(t, "_");
}

/* An object that means several variables (§16.4). */
static bool is_variables(json_t *object)
{
	const char *key;
	size_t length;
	json_t *value;

	if (json_object_size(object) == 0)
		return false;
	json_object_keylen_foreach(object, key, length, value)
	{
		if (!member_name((struct text){key, length}) || !json_is_string(value))
			return false;
	}
	return true;
}

static int read_object(json_t *object, struct env_payload *p, struct error *err)
{
	const char *key;
	size_t length;
	json_t *value;

	if (json_object_size(object) > ENV_PAYLOAD_MAX)
		return payload_invalid(err, 0, "too_many");
	json_object_keylen_foreach(object, key, length, value)
	{
		if (add_variable(p, (struct text){key, length}, json_text(value), err) < 0)
			return -1;
	}
	return 0;
}

static int read_value(const struct env_payload_options *o, struct text payload,
	struct env_payload *p, struct error *err)
{
	auto_free char *derived = derive_name(o->secret);

	return add_variable(p, o->env_name.p ? o->env_name : text_of(derived), payload, err);
}

int env_payload_read(const struct env_payload_options *options, struct text payload,
	struct env_payload *ret, struct error *err)
{
	auto_error struct error unread = ERROR_INIT;
	auto_json_secret *json = NULL;
	AUTO(env_payload) p = {.v = NULL};
	bool value = options->format == ENV_FORMAT_VALUE || options->env_name.p;

	if (!value)
		json = json_secret_read(
			payload, payload.len, "the payload", ERROR_SECRET_PAYLOAD_INVALID, &unread);
	bool object = json && is_variables(json);
	if (!value && !object && options->format == ENV_FORMAT_OBJECT)
		return payload_invalid(err, 0, "object");
	if ((object ? read_object(json, &p, err) : read_value(options, payload, &p, err)) < 0)
		return -1;
	*ret = p;
	p = (struct env_payload){.v = NULL};
	return 0;
}

void env_payload_select(struct env_payload *p, const struct strv *env_keys)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->n; i++) {
		if (env_keys->n == 0 || strv_has(env_keys, p->v[i].name))
			p->v[kept++] = p->v[i];
		else
			variable_done(&p->v[i]);
	}
	p->n = kept;
}
