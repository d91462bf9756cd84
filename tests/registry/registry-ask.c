/*
 * registry-ask WHAT NAME [DIGEST]: asks a plain registry on loopback what no command shows by
 * itself, with the login that the files hold. For tests/e2e/test_registry.py and tests/bench.
 *
 *     signature   present, absent, or "unknown CODE"
 *     label       the label, "-" for none, or "error CODE"
 *     cancel      what a look-up ends with that is cancelled after 300 ms
 *     bench       milliseconds of the first look-up of NAME, and of the median of others
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>

#include "image/registry/registry.h"
#include "sys/clock.h"

enum { ROUNDS = 101 };

static void fail(const struct error *err)
{
	fprintf(stderr, "%s\n", err->message);
	exit(1);
}

static int signature(const struct registry_question *q, const char *digest)
{
	auto_error struct error err = ERROR_INIT;
	enum provenance_signature found;
	int asked = registry_signature(q, digest, &found, &err);

	if (asked < 0)
		fail(&err);
	printf("%s%s%s\n", provenance_signature_text(found), asked > 0 ? " " : "",
		asked > 0 ? error_code_text(err.code) : "");
	return 0;
}

static int label(const struct registry_question *q, const char *digest)
{
	auto_error struct error err = ERROR_INIT;
	auto_free char *text = NULL;

	if (registry_label(q, digest, &text, &err) < 0)
		printf("error %s\n", error_code_text(err.code));
	else
		printf("%s\n", text ? text : "-");
	return 0;
}

static int cancel(const struct registry_question *q)
{
	auto_error struct error err = ERROR_INIT;
	auto_fd int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	struct itimerspec soon = {.it_value = {.tv_nsec = 300000000}};
	struct registry_question cancelled = *q;
	struct registry_answer answer;

	cancelled.cancel_fd = timer;
	if (timerfd_settime(timer, 0, &soon, NULL) == 0 &&
		registry_resolve(&cancelled, &answer, &err) < 0)
		printf("%s\n", error_code_text(err.code));
	return 0;
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static int bench(const struct registry_question *q)
{
	auto_error struct error err = ERROR_INIT;
	struct registry_answer answer;
	int64_t us[ROUNDS];

	for (size_t i = 0; i < ROUNDS; i++) {
		int64_t begin = clock_boottime_us();
		if (registry_resolve(q, &answer, &err) < 0)
			fail(&err);
		us[i] = clock_boottime_us() - begin;
	}
	qsort(us + 1, ROUNDS - 1, sizeof(us[0]), compare);
	printf("first %.2f ms, then %.2f ms\n", (double)us[0] / 1000,
		(double)us[ROUNDS / 2] / 1000);
	return 0;
}

int main(int argc, char **argv)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(image_policy) policy = {.insecure_registries.items = STRV_INIT(1)};
	AUTO(login_found) login = {.file = NULL};
	struct image_reference ref;
	const char *what = argc > 2 ? argv[1] : "";

	if (argc < 3 || image_reference_parse(text_of(argv[2]), &ref, &err) < 0 ||
		strv_add(&policy.insecure_registries.items, ref.registry) < 0 ||
		logins_find(&ref, &login, &err) < 0)
		fail(&err);
	struct registry_question q = {
		.policy = &policy, .ref = &ref, .login = &login, .cancel_fd = -1};
	if (strcmp(what, "bench") == 0)
		return bench(&q);
	if (strcmp(what, "cancel") == 0)
		return cancel(&q);
	if (argc > 3 && strcmp(what, "signature") == 0)
		return signature(&q, argv[3]);
	return argc > 3 && strcmp(what, "label") == 0 ? label(&q, argv[3]) : 2;
}
