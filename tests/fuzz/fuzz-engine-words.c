/*
 * What other programs print: an engine that fails, says its version or describes itself, and
 * cosign. What is shown of it is bounded and holds no control character; the words of one line
 * decide the same wherever the line stands.
 */
#include <assert.h>

#include "executor/container/detect.h"
#include "executor/container/failure.h"
#include "executor/container/inspect.h"
#include "image/cosign.h"
#include "json-mutate.h"

enum { ROOM = 1 << 18 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_quote(struct text words, const struct str *err, const struct str *out)
{
	AUTO(str) quote = STR_INIT(4 * FAILURE_QUOTE_BYTES_MAX + 3);

	failure_quote(&quote, err, out);
	assert(!str_full(&quote) && !text_has_control((struct text){str_text(&quote), quote.len}));
	assert(utf8_valid((struct text){str_text(&quote), quote.len}));
	assert((quote.len > 0) == !text_blank(words));
}

static void check_failure(struct text words)
{
	auto_error struct error err = ERROR_INIT, other = ERROR_INIT;
	AUTO(str) said = STR_INIT(ROOM);
	AUTO(str) later = STR_INIT(ROOM);
	AUTO(str) nothing = STR_INIT(1);
	struct failure f = {.engine = ENGINE_PODMAN,
		.call = TEXT("run"),
		.image = TEXT("localhost/x:1"),
		.err = &said,
		.out = &nothing};

	str_add(&said, words.p, words.len);
	str_add_text(&later, "first line\n");
	str_add(&later, words.p, words.len);
	failure_explain(&f, &err);
	assert(err.code != ERROR_NONE && !text_has_control(text_of(err.message)));
	assert(*error_remedy(&err));
	f.err = &later;
	failure_explain(&f, &other);
	assert(other.code == err.code);
	check_quote(words, &said, &nothing);
	check_quote(words, &nothing, &said);
}

/* ---- Finding an engine ---- */

static bool find(void *data, const char *key, struct detect_file *ret)
{
	(void)data;
	*ret = (struct detect_file){.path = mem_printf("/usr/bin/%s", key),
		.mode = 0755,
		.regular = true,
		.executable = true};
	return true;
}

static int version(
	void *data, enum engine engine, const char *path, struct str *ret, struct error *err)
{
	const struct text *words = data;

	(void)engine, (void)path, (void)err;
	(void)!str_add(ret, words->p, words->len);
	return 0;
}

static void check_version(struct text words)
{
	const struct detect_probe probe = {find, version, &words};

	for (int e = 0; e < ENGINE_COUNT; e++) {
		auto_error struct error err = ERROR_INIT;
		AUTO(runtime) found = {.path = NULL};
		if (detect_decide(engine_text((enum engine)e), 0, &probe, &found, &err) == 0)
			assert(found.engine == (enum engine)e && found.path);
		else
			assert(error_is(&err, ERROR_RUNTIME_MASQUERADE) ||
				error_is(&err, ERROR_RUNTIME_UNSUPPORTED));
		assert(!text_has_control(text_of(err.message)));
	}
}

static void check_info(struct text words)
{
	auto_error struct error err = ERROR_INIT;

	if (detect_check_docker_info(words, &err) < 0)
		assert(error_is(&err, ERROR_DOCKER_USERNS) || error_is(&err, ERROR_ENGINE_FAILED));
	assert((detect_check_endpoint(words, &err) == 0) == text_starts(words, "unix://"));
}

static void check_cosign(struct text words)
{
	char line[COSIGN_LINE_MAX + 1], name[COSIGN_VERSION_MAX];

	cosign_last_line(words, line);
	assert(strlen(line) <= COSIGN_LINE_MAX && utf8_valid(text_of(line)));
	assert(!text_has_control(text_of(line)) && (*line != '\0') == !text_blank(words));
	cosign_version_of(words, name);
	assert(!*name || (name[0] == 'v' && text_has(words, name)));
	(void)cosign_version_is_old(name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text words = {(const char *)data, size};

	/* Of more than 64 KiB the end is not looked at. */
	if (size > 60000)
		return 0;
	check_failure(words);
	check_version(words);
	check_info(words);
	check_cosign(words);
	(void)inspect_says_unknown(words);
	return 0;
}
