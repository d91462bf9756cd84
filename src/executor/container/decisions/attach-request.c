#include "executor/container/decisions/attach-request.h"

static int too_large(struct error *err)
{
	error_set(err, ERROR_ARGV_TOO_LARGE,
		"the command of the session has more than %d words or %d bytes", ATTACH_WORDS_MAX,
		ATTACH_WORDS_BYTES_MAX);
	return error_set_remedy(err, "put the command into a script of the project");
}

static int not_text(size_t word, struct error *err)
{
	error_set(err, ERROR_ARGV_INVALID, "word %zu of the command is no UTF-8 text without NUL",
		word);
	return error_set_remedy(err, "words of a session are UTF-8");
}

/* One more word; what was judged before is counted. */
static int judge_word(struct text word, size_t index, size_t *bytes, struct error *err)
{
	if (index == 0 && text_blank(word))
		return error_set(err, ERROR_ARGV_EMPTY, "the session has no command");
	if (text_has_byte(word, '\0') || !utf8_valid(word))
		return not_text(index + 1, err);
	*bytes += word.len + 1;
	if (index >= ATTACH_WORDS_MAX || *bytes > ATTACH_WORDS_BYTES_MAX)
		return too_large(err);
	return 0;
}

int attach_request_make(const struct attach_wish *wish, json_t **ret, struct error *err)
{
	auto_json *words = json_array();
	size_t bytes = 0;

	for (size_t i = 0; wish->argv && wish->argv[i]; i++) {
		if (judge_word(text_of(wish->argv[i]), i, &bytes, err) < 0)
			return -1;
		json_array_append_new(words, json_string(wish->argv[i]));
	}
	*ret = json_pack("{s:s, s:O, s:b, s:b, s:i, s:i}", "op", "attach", "argv", words, "tty",
		wish->tty, "write", wish->write, "rows", wish->rows, "cols", wish->cols);
	return 0;
}

static int read_words(const json_t *list, struct attach_request *r, struct error *err)
{
	size_t i, bytes = 0;
	json_t *item;

	json_array_foreach(list, i, item)
	{
		struct text word = json_text(item);
		if (!json_is_string(item))
			return not_text(i + 1, err);
		size_t at = bytes;
		if (judge_word(word, i, &bytes, err) < 0)
			return -1;
		memcpy(r->argv + at, word.p, word.len);
	}
	r->argc = (uint8_t)i;
	r->argv_len = (uint16_t)bytes;
	return 0;
}

uint16_t attach_request_side(int64_t asked, uint16_t now)
{
	if (asked <= 0)
		return now;
	return asked > ATTACH_SIDE_MAX ? ATTACH_SIDE_MAX : (uint16_t)asked;
}

int attach_request_read(const json_t *request, struct attach_request *ret, struct error *err)
{
	const json_t *words = json_object_get(request, "argv");

	*ret = (struct attach_request){.tty = json_get_bool(request, "tty", false),
		.write = json_get_bool(request, "write", false)};
	if (ret->tty) {
		ret->rows = attach_request_side(json_get_int(request, "rows", 0), ATTACH_ROWS);
		ret->cols = attach_request_side(json_get_int(request, "cols", 0), ATTACH_COLUMNS);
	}
	if (words && !json_is_null(words) && !json_is_array(words))
		return error_set(err, ERROR_ARGV_INVALID, "argv is no list of words");
	if (json_array_size(words) > 0)
		return read_words(words, ret, err);
	memcpy(ret->argv, ATTACH_SHELL, sizeof(ATTACH_SHELL));
	ret->argc = 1;
	ret->argv_len = sizeof(ATTACH_SHELL);
	return 0;
}
