#include "unit/unit.h"

#include "limits/render.h"

static void test_clamp(void **unused)
{
	struct effective_clamp clamp = {RESOURCE_MEMORY, 4096, 1536, CEILING_PROJECT};
	auto_free char *memory = render_clamp(&clamp);

	(void)unused;
	assert_string_equal(
		memory, "memory: 4 GB requested, the project ceiling lowers it to 1536 MB");
	clamp = (struct effective_clamp){RESOURCE_PIDS, 512, 64, CEILING_FLEET};
	auto_free char *pids = render_clamp(&clamp);
	assert_string_equal(pids, "pids: 512 requested, the fleet ceiling lowers it to 64");
}

static void test_disk_card(void **unused)
{
	auto_free char *held = render_disk_card(TEXT("quota"));
	auto_free char *not_held = render_disk_card(TEXT("maybe"));

	(void)unused;
	assert_string_equal(held, "disk: enforced (quota)");
	assert_string_equal(not_held, "disk: not supported");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clamp),
		cmocka_unit_test(test_disk_card),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
