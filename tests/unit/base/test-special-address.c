/* Which addresses are special-purpose (network.md §5.1, §5.2). */
#include "unit/unit.h"

#include <arpa/inet.h>

#include "base/special-address.h"

static void test_classes(void **state)
{
	static const struct {
		const char *host;
		enum special_class class;
	} rows[] = {
		{"8.8.8.8", SPECIAL_NONE},
		{"0.0.0.0", SPECIAL_UNSPECIFIED},
		{"0.0.0.1", SPECIAL_THIS_NETWORK},
		{"127.255.0.1", SPECIAL_LOOPBACK},
		{"128.0.0.0", SPECIAL_NONE},
		{"223.255.255.255", SPECIAL_NONE},
		{"224.0.0.1", SPECIAL_MULTICAST},
		{"239.255.255.255", SPECIAL_MULTICAST},
		{"240.0.0.0", SPECIAL_RESERVED},
		{"255.255.255.255", SPECIAL_BROADCAST},
		{"169.254.1.1", SPECIAL_LINK_LOCAL},
		{"169.254.169.254", SPECIAL_METADATA},
		{"168.63.129.16", SPECIAL_METADATA},
		{"168.63.129.17", SPECIAL_NONE},
		{"100.100.100.200", SPECIAL_METADATA},
		{"192.0.0.192", SPECIAL_METADATA},
		{"192.0.0.1", SPECIAL_PROTOCOL},
		{"10.0.0.1", SPECIAL_PRIVATE},
		{"172.15.255.255", SPECIAL_NONE},
		{"172.16.0.0", SPECIAL_PRIVATE},
		{"172.31.255.255", SPECIAL_PRIVATE},
		{"172.32.0.0", SPECIAL_NONE},
		{"192.168.1.1", SPECIAL_PRIVATE},
		{"100.63.255.255", SPECIAL_NONE},
		{"100.64.0.0", SPECIAL_CGNAT},
		{"100.128.0.0", SPECIAL_NONE},
		{"192.0.2.1", SPECIAL_DOCUMENTATION},
		{"192.88.99.1", SPECIAL_TRANSLATION},
		{"198.19.255.255", SPECIAL_BENCHMARKING},
		{"198.20.0.0", SPECIAL_NONE},
		{"[2606:4700::1]", SPECIAL_NONE},
		{"[::]", SPECIAL_UNSPECIFIED},
		{"[::1]", SPECIAL_LOOPBACK},
		{"[::2]", SPECIAL_THIS_NETWORK},
		{"[::808:808]", SPECIAL_TRANSLATION},
		{"[::ffff:808:808]", SPECIAL_NONE},
		{"[::ffff:a00:1]", SPECIAL_PRIVATE},
		{"[::ffff:a9fe:a9fe]", SPECIAL_METADATA},
		{"[::ffff:0:808:808]", SPECIAL_TRANSLATION},
		{"[::ffff:0:a00:1]", SPECIAL_PRIVATE},
		{"[64:ff9b::808:808]", SPECIAL_NONE},
		{"[64:ff9b::a00:1]", SPECIAL_PRIVATE},
		{"[64:ff9b::a9fe:a9fe]", SPECIAL_METADATA},
		{"[64:ff9b:1:a00:0:100::]", SPECIAL_PRIVATE},
		{"[64:ff9b:1:808:8:800::]", SPECIAL_TRANSLATION},
		{"[2002:a00:1::]", SPECIAL_PRIVATE},
		{"[2002:808:808::1]", SPECIAL_TRANSLATION},
		{"[2001::f5ff:fffe]", SPECIAL_PRIVATE},
		{"[2001::f7f7:f7f7]", SPECIAL_TRANSLATION},
		{"[2001:1::1]", SPECIAL_PROTOCOL},
		{"[2001:200::1]", SPECIAL_NONE},
		{"[2001:db8::1]", SPECIAL_DOCUMENTATION},
		{"[3fff:fff::1]", SPECIAL_DOCUMENTATION},
		{"[3fff:1000::1]", SPECIAL_NONE},
		{"[5f00::1]", SPECIAL_PROTOCOL},
		{"[100::1]", SPECIAL_DISCARD},
		{"[100:0:0:1::1]", SPECIAL_DISCARD},
		{"[100:0:0:2::1]", SPECIAL_NONE},
		{"[fe80::1]", SPECIAL_LINK_LOCAL},
		{"[fe80::a9fe:a9fe]", SPECIAL_METADATA},
		{"[fec0::1]", SPECIAL_SITE_LOCAL},
		{"[fd00:ec2::254]", SPECIAL_METADATA},
		{"[fd00:ec2::23]", SPECIAL_METADATA},
		{"[fd00:42::42]", SPECIAL_METADATA},
		{"[fd00:a9fe:a9fe::1]", SPECIAL_METADATA},
		{"[fd20:ce::254]", SPECIAL_METADATA},
		{"[fd00:ec2::255]", SPECIAL_PRIVATE},
		{"[ff02::1]", SPECIAL_MULTICAST},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		enum special_class class = SPECIAL_CLASS_COUNT;
		if (!special_address_literal(text_of(rows[i].host), &class) ||
			class != rows[i].class)
			fail_msg("%s: %d, not %s", rows[i].host, (int)class,
				special_class_text(rows[i].class));
	}
}

static void test_names_are_no_addresses(void **state)
{
	static const char *const names[] = {"", "localhost", "127.1", "0x7f.0.0.1", "1.2.3.4.5",
		"::1", "[::1", "::1]", "[1.2.3.4]", "[]", "[fe80::1%eth0]", " 1.2.3.4", "01.2.3.4"};
	enum special_class class;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (special_address_literal(text_of(names[i]), &class))
			fail_msg("%s is taken for an address", names[i]);
	assert_int_equal(special_address_class(AF_UNIX, names), SPECIAL_RESERVED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_classes),
		cmocka_unit_test(test_names_are_no_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
