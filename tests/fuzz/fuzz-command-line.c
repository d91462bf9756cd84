/* Words of a command line, separated by NUL: what is understood keeps the promises of the table. */
#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "base/strv.h"
#include "cli/parse.h"
#include "cli/verbs.h"

enum { WORDS_MAX = 64 };

static void check_understood(const struct cli *c, const struct strv *words)
{
	assert(c->verb || c->help);
	assert(c->n_values <= words->n && c->n_args <= words->n);
	if (c->help)
		return;
	assert(c->n_args >= c->verb->min_args && c->n_args <= c->verb->max_args);
	for (size_t i = 0; i < c->n_values; i++) {
		const struct option *o = c->values[i].option;
		assert(verbs_option(c->verb, o->name, strlen(o->name)) == o);
		assert(!o->value == !c->values[i].text);
		unsigned flag = verbs_common_flag(o);
		assert(!flag || c->verb->flags & flag);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(strv) words = STRV_INIT(WORDS_MAX);
	AUTO(cli) c = {0};
	auto_error struct error err = ERROR_INIT;
	struct text rest = {(const char *)data, size}, word;

	strv_add(&words, "cloop");
	while (text_split(&rest, '\0', &word) && strv_add_n(&words, word.p, word.len) == 0)
		;
	if (parse_command_line((int)words.n, words.v, &c, &err) == 0) {
		check_understood(&c, &words);
		return 0;
	}
	assert(err.code == ERROR_USAGE && err.message[0] && error_remedy(&err)[0]);
	assert(utf8_valid(text_of(err.message)));
	return 0;
}
