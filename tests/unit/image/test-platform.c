#include "unit/unit.h"

#include <string.h>

#include "image/platform.h"

static void test_emulators(void **state)
{
	static const struct {
		const char *image, *machine, *emulator;
	} rows[] = {
		{"amd64", "amd64", NULL},
		{"arm64", "arm64", NULL},
		{"386", "amd64", NULL},
		{"arm", "arm64", NULL},
		{"arm64", "amd64", "qemu-aarch64"},
		{"arm", "amd64", "qemu-arm"},
		{"amd64", "386", "qemu-x86_64"},
		{"amd64", "arm64", "qemu-x86_64"},
		{"arm64", "arm", "qemu-aarch64"},
		{"386", "arm64", "qemu-i386"},
		{"s390x", "amd64", "qemu-s390x"},
		{"", "amd64", NULL},
		{"AMD64", "arm64", NULL},
		{"wasm", "amd64", NULL},
		{"arm64", "vax", NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *got =
			platform_emulator(text_of(rows[i].image), text_of(rows[i].machine));
		if (!got != !rows[i].emulator || (got && strcmp(got, rows[i].emulator) != 0))
			fail_msg("%s on %s: %s", rows[i].image, rows[i].machine, got ? got : "-");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_emulators)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
