/* Edges of image-trust.md §5.1 that the public cases leave out. */
#include "unit/unit.h"

#include "base/json.h"
#include "image/identity.h"

#define H "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde"
#define ID "'Id':'" H "f'"
#define A "sha256:" H "a"
#define B "sha256:" H "b"
#define C "sha256:" H "c"
#define E "sha256:" H "e"
#define F "sha256:" H "f"

/* JSON with ' for ". */
static json_t *json_of(const char *text)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(str) out = STR_INIT(1 << 16);

	for (; *text; text++)
		str_add_char(&out, *text == '\'' ? '"' : *text);
	json_t *value = json_read(
		(struct text){str_text(&out), out.len}, 1 << 16, "test", ERROR_USAGE, &err);
	if (!value)
		fail_msg("%s", err.message);
	return value;
}

static int choose(enum image_store store, const char *ref, const char *inspect,
	struct image_identity *ret, struct error *err)
{
	auto_json *object = json_of(inspect);
	struct image_reference asked;

	assert_done(image_reference_parse(text_of(ref), &asked, err), err);
	return image_identity_choose(store, &asked, object, ret, err);
}

static void test_choices(void **state)
{
	(void)state;
	static const struct {
		enum image_store store;
		const char *ref, *inspect;
		int outcome; /* or the code when it is refused, negated */
		const char *run, *image;
	} rows[] = {
		/* A tag beside a digest does not have to be there. */
		{IMAGE_STORE_PODMAN, "x.io/a:9@" A, "{" ID ",'RepoDigests':['x.io/a@" A "']}", 0,
			"x.io/a@" A, "x.io/a@" A},
		{IMAGE_STORE_PODMAN, "localhost/a@" A,
			"{" ID ",'RepoDigests':['localhost/a@" A "']}", IMAGE_NO_DIGEST, F,
			"localhost/a@" A},
		/* Short entries are nobody's on podman. */
		{IMAGE_STORE_PODMAN, "docker.io/library/a:1", "{" ID ",'RepoTags':['a:1']}",
			-ERROR_IMAGE_MISSING, NULL, NULL},
		{IMAGE_STORE_PODMAN, "a:1", "{" ID ",'RepoTags':['a:1']}", -ERROR_IMAGE_MISSING,
			NULL, NULL},
		/* The tail of a name is whole components. */
		{IMAGE_STORE_PODMAN, "a:1", "{" ID ",'RepoTags':['x.io/ba:1']}",
			-ERROR_IMAGE_MISSING, NULL, NULL},
		{IMAGE_STORE_PODMAN, "b/a:1", "{" ID ",'RepoTags':['x.io/c/b/a:1']}",
			IMAGE_NO_DIGEST, F, "x.io/c/b/a:1"},
		{IMAGE_STORE_DOCKER, "b/a",
			"{" ID ",'RepoTags':['b/a:latest'],'RepoDigests':['b/a@" B "']}", 0,
			"docker.io/b/a@" B, "docker.io/b/a@" B},
		/* Another tag of another name does not make the name ambiguous. */
		{IMAGE_STORE_PODMAN, "a:1",
			"{" ID ",'RepoTags':['x.io/a:1','y.io/a:2','x.io/a:1']}", IMAGE_NO_DIGEST,
			F, "x.io/a:1"},
		{IMAGE_STORE_PODMAN, "a@" A,
			"{" ID ",'RepoDigests':['x.io/a@" A "','y.io/a@" A "']}", IMAGE_NO_DIGEST,
			F, "a@" A},
		/* What does not parse is left out; what is no list is no answer. */
		{IMAGE_STORE_DOCKER, "x.io/a",
			"{" ID ",'RepoTags':['<none>:<none>',7,null,'x.io/a:latest'],"
			"'RepoDigests':['<none>@<none>']}",
			IMAGE_NO_DIGEST, F, "x.io/a:latest"},
		{IMAGE_STORE_DOCKER, "x.io/a", "{" ID ",'RepoTags':'x.io/a:latest'}",
			-ERROR_ENGINE_FAILED, NULL, NULL},
		{IMAGE_STORE_DOCKER, "x.io/a", "{'Id':7,'RepoTags':['x.io/a:latest']}",
			-ERROR_ENGINE_FAILED, NULL, NULL},
		{IMAGE_STORE_DOCKER, "x.io/a", "[]", -ERROR_ENGINE_FAILED, NULL, NULL},
		/* A tag that an entry leaves out is not latest. */
		{IMAGE_STORE_DOCKER, "x.io/a", "{" ID ",'RepoTags':['x.io/a']}",
			-ERROR_IMAGE_MISSING, NULL, NULL},
		/* A digest of another name is not this one's. */
		{IMAGE_STORE_PODMAN, "x.io/a:1",
			"{" ID ",'RepoTags':['x.io/a:1'],'Digest':'" A "','RepoDigests':['y.io/a@" A
			"','x.io/a@" C "']}",
			0, "x.io/a@" C, "x.io/a@" C},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_error struct error err = ERROR_INIT;
		struct image_identity got = {0};
		int r = choose(rows[i].store, rows[i].ref, rows[i].inspect, &got, &err);
		if (r == -1)
			r = -(int)err.code;
		if (r != rows[i].outcome)
			fail_msg("row %zu: %d %s", i, r, err.message);
		if (r < 0)
			continue;
		assert_string_equal(got.run, rows[i].run);
		assert_string_equal(got.image, rows[i].image);
		assert_int_equal(got.reproducible, r == 0);
		assert_int_equal(*got.digest != '\0', r == 0);
		assert_int_equal(got.n_candidates, 0);
	}
}

static void test_candidates(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	struct image_identity got;
	static const char *const order[] = {C, A, B, E};

	assert_done(choose(IMAGE_STORE_PODMAN, "x.io/a:1",
			    "{" ID ",'RepoTags':['x.io/a:1'],'Digest':'" C
			    "','RepoDigests':['x.io/a@" F "','x.io/a@" C "','x.io/a@" B
			    "','x.io/a@" B "','x.io/a@" A "','x.io/a@" E "']}",
			    &got, &err),
		&err);
	assert_int_equal(got.n_candidates, 4);
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(got.candidates[i], order[i]);
	assert_string_equal(got.digest, C);
	/* The engine's own digest counts only if it is listed for the name. */
	assert_done(choose(IMAGE_STORE_PODMAN, "x.io/a:1",
			    "{" ID ",'RepoTags':['x.io/a:1'],'Digest':'" C
			    "','RepoDigests':['x.io/a@" F "','x.io/a@" B "']}",
			    &got, &err),
		&err);
	assert_int_equal(got.n_candidates, 2);
	assert_string_equal(got.digest, B);
}

static void test_answers(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	struct image_reference asked;

	assert_done(image_reference_parse(TEXT("a"), &asked, &err), &err);
	assert_int_equal(image_inspect_explain(IMAGE_STORE_DOCKER, &asked,
				 TEXT("Error: No such image: a (Invalid reference format)"), &err),
		-1);
	assert_int_equal(err.code, ERROR_ENGINE_FAILED);
	assert_int_equal(image_inspect_explain(IMAGE_STORE_PODMAN, &asked,
				 TEXT("Error: a: Image not known"), &err),
		-1);
	assert_int_equal(err.code, ERROR_IMAGE_MISSING);
	assert_string_equal(error_remedy(&err), "podman pull a:latest");
	assert_int_equal(
		image_inspect_explain(IMAGE_STORE_DOCKER, &asked, TEXT("no daemon"), &err), 0);
	assert_null(image_inspect_read(TEXT("[]"), &err));
	assert_null(image_inspect_read(TEXT("[{},{}]"), &err));
	assert_null(image_inspect_read(TEXT("{}"), &err));
	assert_null(image_inspect_read(TEXT("[1]"), &err));
	assert_null(image_inspect_read(TEXT("[{}"), &err));
	assert_int_equal(err.code, ERROR_ENGINE_FAILED);
	auto_json *object = image_inspect_read(
		TEXT("[{\"Architecture\":\"arm64\",\"Config\":{\"Labels\":{\"k\":\"v\"}}}]"), &err);
	assert_non_null(object);
	assert_true(text_is(image_inspect_label(object, "k"), "v"));
	assert_null(image_inspect_label(object, "other").p);
	assert_true(text_is(image_inspect_architecture(object), "arm64"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_choices),
		cmocka_unit_test(test_candidates),
		cmocka_unit_test(test_answers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
