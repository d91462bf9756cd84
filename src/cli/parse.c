#include "cli/parse.h"

#include <string.h>

#include "base/mem.h"
#include "cli/verbs.h"

struct parser {
	struct cli *c;
	char **argv;
	int argc;
	int at;
};

/* --json decides how even a usage error is printed, so it is looked for first. */
static bool asks_for_json(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--json") == 0)
			return true;
	return false;
}

static bool is_choice(const struct option *o, const char *value)
{
	struct text rest = text_of(o->choices), word;

	while (text_split(&rest, ' ', &word))
		if (text_is(word, value))
			return true;
	return false;
}

static const struct cli_value *given(const struct cli *c, const struct option *o)
{
	for (size_t i = 0; i < c->n_values; i++)
		if (c->values[i].option == o)
			return &c->values[i];
	return NULL;
}

static int add_value(struct cli *c, const struct option *o, const char *value, struct error *err)
{
	if (o->value && !o->repeat && given(c, o))
		return cli_usage(c, err, "option %s is given twice", o->name);
	if (o->choices && !is_choice(o, value))
		return cli_usage(c, err, "option %s: %s is none of: %s", o->name,
			quoted_string(value), o->choices);
	c->values[c->n_values++] = (struct cli_value){o, value};
	return 0;
}

static int unknown_option(const struct cli *c, struct text name, struct error *err)
{
	auto_free char *word = mem_strndup(name.p, name.len);
	const char *near = verbs_nearest_option(c->verb, word);

	cli_usage(c, err, "unknown option %s", quoted(name));
	if (near)
		error_set_remedy(err, "did you mean %s?", near);
	return -1;
}

static int take_option(struct parser *p, struct error *err)
{
	const char *word = p->argv[p->at];
	const char *equals = word[1] == '-' ? strchr(word, '=') : NULL;
	struct text name = {word, equals ? (size_t)(equals - word) : strlen(word)};
	/* As of every other program. */
	if (!p->c->verb && !p->c->group && text_is(name, "--version")) {
		p->c->verb = verbs_find(NULL, "version");
		return 0;
	}
	const struct option *o = verbs_option(p->c->verb, name.p, name.len);

	if (!o)
		return unknown_option(p->c, name, err);
	if (!o->value && equals)
		return cli_usage(p->c, err, "option %s takes no value", o->name);
	if (!o->value)
		return add_value(p->c, o, NULL, err);
	if (equals)
		return add_value(p->c, o, equals + 1, err);
	if (p->at + 1 >= p->argc || strcmp(p->argv[p->at + 1], "--") == 0)
		return cli_usage(p->c, err, "option %s needs a value: %s", o->name, o->value);
	return add_value(p->c, o, p->argv[++p->at], err);
}

static int take_word(struct parser *p, struct error *err)
{
	struct cli *c = p->c;
	char *word = p->argv[p->at];

	if (c->verb) {
		c->args[c->n_args++] = word;
		return 0;
	}
	if (!c->group && verbs_is_group(word)) {
		c->group = word;
		return 0;
	}
	c->verb = verbs_find(c->group, word);
	return c->verb ? 0 : verbs_unknown(c->group, word, err);
}

static bool is_option(const struct cli *c, const char *word)
{
	if (word[0] != '-' || word[1] == '\0')
		return false;
	if (!c->verb || !(c->verb->flags & VERB_ANY_WORD))
		return true;
	return verbs_option(c->verb, word, strcspn(word, "=")) != NULL;
}

static void take_rest(struct parser *p)
{
	struct cli *c = p->c;
	char **rest = p->argv + p->at + 1;

	if (c->verb && c->verb->flags & VERB_ARGV) {
		c->argv = rest;
		c->n_argv = (size_t)(p->argc - p->at - 1);
		return;
	}
	for (; *rest; rest++)
		c->args[c->n_args++] = *rest;
}

static int check_options(const struct cli *c, struct error *err)
{
	for (size_t i = 0; i < c->n_values; i++) {
		unsigned flag = verbs_common_flag(c->values[i].option);
		if (flag && !(c->verb->flags & flag))
			return cli_usage(
				c, err, "this command does not take %s", c->values[i].option->name);
	}
	return 0;
}

static int check_args(const struct cli *c, struct error *err)
{
	const struct verb *v = c->verb;

	if (c->n_args < v->min_args)
		return cli_usage(c, err, "an argument is missing: %s", v->args);
	if (c->n_args > v->max_args)
		return cli_usage(c, err, "too many arguments, beginning with %s",
			quoted_string(c->args[v->max_args]));
	return 0;
}

static int check(const struct cli *c, struct error *err)
{
	if (!c->verb && c->group)
		return cli_usage(c, err, "%s needs a second word", c->group);
	if (!c->verb)
		return cli_usage(c, err, "no command given");
	if (check_options(c, err) < 0)
		return -1;
	return check_args(c, err);
}

static void fill_common(struct cli *c)
{
	for (size_t i = 0; i < c->n_values; i++) {
		const char *name = c->values[i].option->name;
		if (strcmp(name, "-C") == 0)
			c->dir = c->values[i].text;
		if (strcmp(name, "-h") == 0 || strcmp(name, "--help") == 0)
			c->help = true;
	}
}

static int parse_words(struct parser *p, struct error *err)
{
	for (p->at = 1; p->at < p->argc; p->at++) {
		const char *word = p->argv[p->at];
		if (strcmp(word, "--") == 0) {
			take_rest(p);
			return 0;
		}
		int r = is_option(p->c, word) ? take_option(p, err) : take_word(p, err);
		if (r < 0)
			return -1;
	}
	return 0;
}

int parse_command_line(int argc, char **argv, struct cli *ret, struct error *err)
{
	struct parser p = {.c = ret, .argv = argv, .argc = argc};

	*ret = (struct cli){.dir = ".", .json = asks_for_json(argc, argv)};
	ret->values = mem_alloc((size_t)(argc + 1) * sizeof(*ret->values));
	ret->args = mem_alloc((size_t)(argc + 1) * sizeof(*ret->args));
	int r = parse_words(&p, err);
	fill_common(ret);
	if (r < 0)
		return -1;
	return ret->help ? 0 : check(ret, err);
}
