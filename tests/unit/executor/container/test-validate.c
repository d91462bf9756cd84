/* Edges of container-driver.md §5 that the public cases leave out. */
#include "unit/unit.h"

#include "base/address.h"
#include "base/json.h"
#include "base/path.h"
#include "executor/container/hosts.h"
#include "executor/container/validate.h"

#define A16 "aaaaaaaaaaaaaaaa"
#define A62 A16 A16 A16 "aaaaaaaaaaaaaa"

struct row {
	const char *text;
	enum error_code code;
};

static void check_rows(int (*rule)(struct text, struct error *), const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		auto_error struct error err = ERROR_INIT;
		int r = rule(text_of(rows[i].text), &err);
		if ((r == 0) != (rows[i].code == ERROR_NONE) || err.code != rows[i].code)
			fail_msg("%s: %s", rows[i].text, error_code_text(err.code));
	}
}

#define CHECK(rule, ...) \
	do { \
		static const struct row rows[] = {__VA_ARGS__}; \
		check_rows(rule, rows, ARRAY_SIZE(rows)); \
	} while (0)

static void test_names(void **state)
{
	(void)state;
	CHECK(validate_container_name, {"a/" A62, ERROR_CONTAINER_NAME_TOO_LONG},
		{"a" A62, ERROR_NONE}, {"a\n", ERROR_CONTAINER_NAME_INVALID});
	CHECK(validate_runtime, {"/podman", ERROR_NONE}, {"/usr/bin/docker", ERROR_NONE},
		{"/a b/podman", ERROR_NONE}, {"/a\tb/podman", ERROR_RUNTIME_UNSUPPORTED},
		{"/usr//podman", ERROR_RUNTIME_UNSUPPORTED}, {" ", ERROR_RUNTIME_UNSUPPORTED},
		{"/xpodman", ERROR_RUNTIME_UNSUPPORTED}, {"podman ", ERROR_RUNTIME_UNSUPPORTED});
	CHECK(validate_oci_runtime, {"\t-a", ERROR_OCI_RUNTIME_DASH},
		{"-/a", ERROR_OCI_RUNTIME_DASH}, {"a\\b", ERROR_OCI_RUNTIME_PATH},
		{"a b/", ERROR_OCI_RUNTIME_PATH}, {"a b", ERROR_OCI_RUNTIME_INVALID},
		{".", ERROR_NONE});
	CHECK(validate_network, {"", ERROR_NONE}, {"HOST:x", ERROR_NETWORK_HOST},
		{"Pasta:--x", ERROR_NETWORK_MODE_REFUSED},
		{"ns:" A62 A62 A62, ERROR_NETWORK_MODE_REFUSED},
		{":host", ERROR_NETWORK_NAME_INVALID}, {" host", ERROR_NETWORK_NAME_INVALID},
		{"defaults", ERROR_NONE}, {A62 A62 "aaaa", ERROR_NONE},
		{A62 A62 "aaaa/", ERROR_NETWORK_NAME_TOO_LONG});
	CHECK(validate_env_name, {"a=", ERROR_ENV_NAME_INVALID}, {"_", ERROR_NONE},
		{"0", ERROR_ENV_NAME_INVALID});
	CHECK(validate_label_key, {"/", ERROR_NONE}, {".-", ERROR_NONE});
}

static void test_user(void **state)
{
	(void)state;
	CHECK(validate_user, {"\t\r\n ", ERROR_USER_MISSING}, {":", ERROR_USER_NOT_NUMERIC},
		{"00", ERROR_USER_NOT_NUMERIC}, {" 1", ERROR_USER_NOT_NUMERIC},
		{"99999999999999999999", ERROR_USER_GID_MISSING}, {"1:2:3", ERROR_USER_NOT_NUMERIC},
		{"0:x", ERROR_USER_NOT_NUMERIC}, {"0:2147483648", ERROR_USER_OUT_OF_RANGE},
		{"99999999999999999999999:1", ERROR_USER_OUT_OF_RANGE},
		{"18446744073709551617:1", ERROR_USER_OUT_OF_RANGE},
		{"1:-0", ERROR_USER_NOT_NUMERIC});
}

static void test_add_host(void **state)
{
	(void)state;
	CHECK(validate_add_host, {"LocalHost:10.0.0.1", ERROR_ADD_HOST_INVALID},
		{"localhost.x:10.0.0.1", ERROR_NONE}, {"_:10.0.0.1", ERROR_NONE},
		{"a.:10.0.0.1", ERROR_ADD_HOST_INVALID}, {"a-:10.0.0.1", ERROR_ADD_HOST_INVALID},
		{"a:10.0.0.1\n", ERROR_ADD_HOST_INVALID}, {"a:010.0.0.1", ERROR_ADD_HOST_ADDRESS},
		{"a:10.0.1", ERROR_ADD_HOST_ADDRESS}, {"a:[10.0.0.1]", ERROR_ADD_HOST_ADDRESS},
		{"a:[::1", ERROR_ADD_HOST_ADDRESS}, {"a:[]", ERROR_ADD_HOST_ADDRESS},
		{"a:fe80::1%eth0", ERROR_ADD_HOST_ADDRESS}, {"a:224.0.0.1", ERROR_ADD_HOST_ADDRESS},
		{"a:239.255.255.255", ERROR_ADD_HOST_ADDRESS}, {"a:240.0.0.1", ERROR_NONE},
		{"a:255.255.255.255", ERROR_ADD_HOST_ADDRESS},
		{"a:ff02::1", ERROR_ADD_HOST_ADDRESS}, {"a:::ffff:0.0.0.0", ERROR_ADD_HOST_ADDRESS},
		{"a:::ffff:224.0.0.1", ERROR_ADD_HOST_ADDRESS}, {"a:::ffff:10.0.0.1", ERROR_NONE},
		{"a:::1", ERROR_NONE}, {"a:127.0.0.1", ERROR_NONE},
		{"a:host-gateway", ERROR_ADD_HOST_ADDRESS});

	AUTO(str) out = STR_INIT(1024);
	const struct text entries[] = {TEXT("a:[2001:DB8:0::1]"), TEXT("b:::ffff:a00:1")};
	hosts_file(&out, TEXT("h"), entries, 2);
	assert_string_equal(str_text(&out),
		"127.0.0.1\tlocalhost h\n::1\tlocalhost ip6-localhost ip6-loopback\n"
		"2001:db8::1\ta\n::ffff:10.0.0.1\tb\n");
}

static enum error_code code_of_args(int engine, const char *first, const char *second)
{
	auto_error struct error err = ERROR_INIT;
	struct text args[2] = {text_of(first), text_of(second)};

	return validate_extra_args(args, second ? 2 : 1, engine, &err) == 0 ? ERROR_NONE : err.code;
}

static int one_arg(struct text t, struct error *err)
{
	return validate_extra_args(&t, 1, -1, err);
}

static void test_extra_arg_values(void **state)
{
	(void)state;
	CHECK(one_arg, {"\n", ERROR_EXTRA_ARG_EMPTY}, {"-\n", ERROR_EXTRA_ARG_CONTROL},
		{" -v", ERROR_EXTRA_ARG_CONTROL}, {"--=x", ERROR_EXTRA_ARG_NOT_ALLOWED},
		{"---dns=1.1.1.1", ERROR_EXTRA_ARG_NOT_ALLOWED},
		{"--dns =1.1.1.1", ERROR_EXTRA_ARG_NOT_ALLOWED}, {"-", ERROR_EXTRA_ARG_NOT_FLAG});
	CHECK(one_arg, {"--dns=[::1]", ERROR_EXTRA_ARG_BAD_VALUE},
		{"--dns=224.0.0.1", ERROR_EXTRA_ARG_BAD_VALUE},
		{"--dns=::", ERROR_EXTRA_ARG_BAD_VALUE}, {"--dns=127.0.0.1", ERROR_NONE},
		{"--dns=255.255.255.255", ERROR_NONE}, {"--dns-search=.", ERROR_NONE},
		{"--dns-search=a.", ERROR_EXTRA_ARG_BAD_VALUE}, {"--dns-search=_a.b", ERROR_NONE},
		{"--dns-option=ndots:1234", ERROR_EXTRA_ARG_BAD_VALUE},
		{"--dns-option=ndots:", ERROR_EXTRA_ARG_BAD_VALUE},
		{"--dns-option=use-vc", ERROR_NONE},
		{"--dns-option=a:1:2", ERROR_EXTRA_ARG_BAD_VALUE},
		{"--dns-option=a" A16 "aaaaaaaaaaaaaaa", ERROR_NONE},
		{"--dns-option=a" A16 A16, ERROR_EXTRA_ARG_BAD_VALUE},
		{"--dns-option=A", ERROR_EXTRA_ARG_BAD_VALUE});
	CHECK(one_arg, {"--ulimit=nofile", ERROR_EXTRA_ARG_BAD_VALUE},
		{"--ulimit=nofile=", ERROR_EXTRA_ARG_BAD_VALUE},
		{"--ulimit=nofile=1:", ERROR_EXTRA_ARG_BAD_VALUE},
		{"--ulimit=nofile=-1:5", ERROR_EXTRA_ARG_BAD_VALUE},
		{"--ulimit=nofile=5:-1", ERROR_NONE},
		{"--ulimit=nofile=-2", ERROR_EXTRA_ARG_BAD_VALUE},
		{"--ulimit=nofile=01", ERROR_EXTRA_ARG_BAD_VALUE},
		{"--ulimit=NOFILE=1", ERROR_EXTRA_ARG_BAD_VALUE},
		{"--ulimit=core=1:2:3", ERROR_EXTRA_ARG_BAD_VALUE},
		{"--ulimit=core=999999999999999999", ERROR_NONE},
		{"--ulimit=core=1000000000000000000", ERROR_EXTRA_ARG_BAD_VALUE});
	CHECK(one_arg, {"--label==a", ERROR_EXTRA_ARG_BAD_VALUE}, {"--label=a=", ERROR_NONE},
		{"--label=-a", ERROR_EXTRA_ARG_BAD_VALUE},
		{"--label=Cloop", ERROR_EXTRA_ARG_RESERVED_LABEL}, {"--label=cloops", ERROR_NONE},
		{"--label=COM.docker.x=1", ERROR_EXTRA_ARG_RESERVED_LABEL},
		{"--label=io.podman", ERROR_NONE},
		{"--label=io.podman.", ERROR_EXTRA_ARG_RESERVED_LABEL});
	CHECK(one_arg, {"--cap-drop=ALL", ERROR_NONE}, {"--cap-drop=A", ERROR_EXTRA_ARG_BAD_VALUE},
		{"--cap-drop=CAP_X", ERROR_NONE}, {"--cap-drop=_A", ERROR_EXTRA_ARG_BAD_VALUE},
		{"--cap-drop=A1", ERROR_EXTRA_ARG_BAD_VALUE},
		{"--hostname=-a", ERROR_EXTRA_ARG_BAD_VALUE}, {"--hostname=a" A62, ERROR_NONE},
		{"--hostname=aa" A62, ERROR_EXTRA_ARG_BAD_VALUE},
		{"--hostname=a_b", ERROR_EXTRA_ARG_BAD_VALUE});
	CHECK(one_arg, {"--shm-size=1048576", ERROR_NONE},
		{"--shm-size=1048575", ERROR_EXTRA_ARG_BAD_VALUE},
		{"--shm-size=1048576b", ERROR_NONE}, {"--shm-size=1M", ERROR_EXTRA_ARG_BAD_VALUE},
		{"--shm-size=1024k", ERROR_NONE}, {"--shm-size=65g", ERROR_EXTRA_ARG_BAD_VALUE},
		{"--shm-size=65536m", ERROR_NONE},
		{"--shm-size=68719476736", ERROR_EXTRA_ARG_BAD_VALUE}, /* 11 digits */
		{"--shm-size=9999999999g", ERROR_EXTRA_ARG_BAD_VALUE},
		{"--shm-size=9999999999", ERROR_NONE},
		{"--shm-size=01m", ERROR_EXTRA_ARG_BAD_VALUE},
		{"--shm-size=m", ERROR_EXTRA_ARG_BAD_VALUE},
		{"--shm-size=1mb", ERROR_EXTRA_ARG_BAD_VALUE});
	CHECK(one_arg, {"--stop-timeout=0", ERROR_NONE},
		{"--stop-timeout=-1", ERROR_EXTRA_ARG_BAD_VALUE}, {"--tz=A/B/C", ERROR_NONE},
		{"--tz=A/B/C/D", ERROR_EXTRA_ARG_BAD_VALUE},
		{"--tz=A//B", ERROR_EXTRA_ARG_BAD_VALUE}, {"--tz=/A", ERROR_EXTRA_ARG_BAD_VALUE},
		{"--tz=Etc/GMT+1", ERROR_NONE}, {"--tz=aaa" A62, ERROR_EXTRA_ARG_BAD_VALUE},
		{"--umask=27", ERROR_EXTRA_ARG_BAD_VALUE}, {"--umask=027", ERROR_NONE},
		{"--umask=1027", ERROR_EXTRA_ARG_BAD_VALUE}, {"--umask=777", ERROR_NONE},
		{"--umask=00022", ERROR_EXTRA_ARG_BAD_VALUE});
}

static void test_extra_args_together(void **state)
{
	(void)state;
	assert_int_equal(
		code_of_args(-1, "--ulimit=core=1", "--ulimit=core=2"), ERROR_EXTRA_ARG_DUPLICATE);
	assert_int_equal(code_of_args(-1, "--ulimit=core=1", "--ulimit=cpu=2"), ERROR_NONE);
	assert_int_equal(code_of_args(-1, "--label=a", "--label=a=1"), ERROR_EXTRA_ARG_DUPLICATE);
	assert_int_equal(code_of_args(-1, "--label=a", "--label=A"), ERROR_NONE);
	assert_int_equal(code_of_args(-1, "--dns=1.1.1.1", "--dns=1.1.1.1"), ERROR_NONE);
	assert_int_equal(code_of_args(-1, "--tz=A", "--tz=B"), ERROR_EXTRA_ARG_DUPLICATE);
	assert_int_equal(code_of_args(ENGINE_DOCKER, "--tz=A", "--tz=B"), ERROR_EXTRA_ARG_ENGINE);
	assert_int_equal(code_of_args(ENGINE_DOCKER, "--umask=9", "-v"), ERROR_EXTRA_ARG_BAD_VALUE);
	assert_int_equal(
		code_of_args(-1, "--hostname=a", "--hostname=_"), ERROR_EXTRA_ARG_BAD_VALUE);
}

static int target_unprotected(struct text t, struct error *err)
{
	return validate_mount_target(t, false, err);
}

static int target_protected(struct text t, struct error *err)
{
	return validate_mount_target(t, true, err);
}

static int work_dir(struct text t, struct error *err)
{
	return validate_work_dir(t, TEXT("/home/al"), TEXT("/home/al/.local/state/cloop"), err);
}

static void test_paths(void **state)
{
	(void)state;
	CHECK(target_unprotected, {"/workspace/.git", ERROR_NONE},
		{"/workspace/.cloop/x", ERROR_NONE}, {"/workspace", ERROR_RESERVED_TARGET});
	CHECK(target_protected, {"", ERROR_MOUNT_INVALID}, {"/.", ERROR_MOUNT_INVALID},
		{"/..", ERROR_MOUNT_INVALID}, {"//", ERROR_MOUNT_INVALID},
		{"/a/./b", ERROR_MOUNT_INVALID}, {"/...", ERROR_NONE},
		{"/workspace/.gitx", ERROR_NONE}, {"/workspace/.git", ERROR_RESERVED_TARGET},
		{"/var", ERROR_NONE}, {"/var/run/cloop/x", ERROR_RESERVED_TARGET},
		{"/var/run/app", ERROR_NONE}, {"/var/runs", ERROR_NONE}, {"/run/app", ERROR_NONE},
		{"/var/run/secrets", ERROR_RESERVED_TARGET}, {"/sbin", ERROR_RESERVED_TARGET},
		{"/sbin/x", ERROR_NONE}, {"/.dockerenv/x", ERROR_RESERVED_TARGET},
		{"/usr/local/bin/cloop/x", ERROR_RESERVED_TARGET},
		{"/usr/local/bin/cloopx", ERROR_NONE}, {"/etc/hosts.d", ERROR_NONE},
		{"/run/.containerenv", ERROR_RESERVED_TARGET},
		{"/etc/hostname", ERROR_RESERVED_TARGET}, {"/a\x7f", ERROR_MOUNT_INVALID},
		{"/a b", ERROR_NONE});
	CHECK(work_dir, {"/home/al", ERROR_WORK_DIR_REFUSED}, {"/home/al/p", ERROR_NONE},
		{"/home/al/.local", ERROR_WORK_DIR_REFUSED},
		{"/home/al/.local/state/cloop/x", ERROR_WORK_DIR_REFUSED},
		{"/home/al/.local/state/cloopx", ERROR_NONE}, {"/home/bo", ERROR_NONE},
		{"/run/user/1000", ERROR_WORK_DIR_REFUSED}, {"/run/user/1000/x", ERROR_NONE},
		{"/run/user/x/y", ERROR_WORK_DIR_REFUSED}, {"/run/user", ERROR_WORK_DIR_REFUSED},
		{"/var/lib/x", ERROR_NONE}, {"/var/lib/docker", ERROR_WORK_DIR_REFUSED},
		{"/var/tmp/x", ERROR_NONE}, {"/library", ERROR_NONE},
		{"/mnt", ERROR_WORK_DIR_REFUSED}, {"/mnt/x", ERROR_NONE},
		{"/srv/", ERROR_WORK_DIR_NOT_RESOLVED});
	assert_true(path_at_or_below(TEXT("/a"), TEXT("/")));
	assert_false(path_at_or_below(TEXT("/ab"), TEXT("/a")));
	auto_error struct error err = ERROR_INIT;
	assert_int_equal(validate_work_dir(TEXT("/srv/a\0b"), TEXT(""), TEXT(""), &err), -1);
}

static void test_devices(void **state)
{
	(void)state;
	static const struct {
		const char *source, *target;
		enum error_code code;
	} rows[] = {
		{"/dev/tty", NULL, ERROR_NONE},
		{"/dev/tty12", NULL, ERROR_DEVICE_FORBIDDEN},
		{"/dev/tty1a", NULL, ERROR_NONE},
		{"/dev/vhost-net", NULL, ERROR_DEVICE_FORBIDDEN},
		{"/dev/vcsu1", NULL, ERROR_DEVICE_FORBIDDEN},
		{"/dev/hugepages-2M/x", NULL, ERROR_DEVICE_FORBIDDEN},
		{"/dev/cpu", NULL, ERROR_DEVICE_FORBIDDEN},
		{"/dev/cpux", NULL, ERROR_NONE},
		{"/dev/fd", NULL, ERROR_DEVICE_FORBIDDEN},
		{"/dev/fd0", NULL, ERROR_NONE},
		{"/dev/shm/x", NULL, ERROR_DEVICE_FORBIDDEN},
		{"/dev/memx", NULL, ERROR_NONE},
		{"/dev/mapper/x", NULL, ERROR_NONE},
		{"/dev/zero", "/dev/mem", ERROR_NONE},
		{"/dev/mem", "/etc/x", ERROR_DEVICE_OUTSIDE_DEV},
		{"/dev/mem", "/dev/../x", ERROR_DEVICE_PATH_INVALID},
		{"", "/dev/x", ERROR_DEVICE_PATH_INVALID},
		{"/", NULL, ERROR_DEVICE_OUTSIDE_DEV},
		{"/dev/a,b", NULL, ERROR_DEVICE_PATH_INVALID},
		{"/device/x", NULL, ERROR_DEVICE_OUTSIDE_DEV},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_error struct error err = ERROR_INIT;
		struct request_device d = {.name = TEXT("a"),
			.source = text_of(rows[i].source),
			.target = text_of(rows[i].target)};
		(void)!validate_device(&d, &err);
		if (err.code != rows[i].code)
			fail_msg("%s: %s", rows[i].source, error_code_text(err.code));
	}
}

static void test_interfaces(void **state)
{
	(void)state;
	static const struct {
		const char *source, *target, *address, *gateway;
		enum error_code code;
	} rows[] = {
		{"podman", NULL, NULL, NULL, ERROR_NONE},
		{"podman0x", NULL, NULL, NULL, ERROR_NONE},
		{"podman07", NULL, NULL, NULL, ERROR_INTERFACE_FORBIDDEN},
		{"cni-podman0", NULL, NULL, NULL, ERROR_INTERFACE_FORBIDDEN},
		{"eth0", "docker0", NULL, NULL, ERROR_NONE},
		{"lo", "a/b", NULL, NULL, ERROR_INTERFACE_TARGET_INVALID},
		{"a b", NULL, NULL, NULL, ERROR_INTERFACE_SOURCE_INVALID},
		{"..", NULL, NULL, NULL, ERROR_INTERFACE_SOURCE_INVALID},
		{"...", NULL, NULL, NULL, ERROR_NONE},
		{"eth\xc3\xa9", NULL, NULL, NULL, ERROR_INTERFACE_SOURCE_INVALID},
		{"eth0", NULL, "10.0.0.1/0", NULL, ERROR_INTERFACE_ADDRESS_INVALID},
		{"eth0", NULL, "10.0.0.1/33", NULL, ERROR_INTERFACE_ADDRESS_INVALID},
		{"eth0", NULL, "10.0.0.1/08", NULL, ERROR_INTERFACE_ADDRESS_INVALID},
		{"eth0", NULL, "10.0.0.1/", NULL, ERROR_INTERFACE_ADDRESS_INVALID},
		{"eth0", NULL, "10.0.0.1/24/1", NULL, ERROR_INTERFACE_ADDRESS_INVALID},
		{"eth0", NULL, "10.0.0.255/24", NULL, ERROR_INTERFACE_ADDRESS_INVALID},
		{"eth0", NULL, "10.0.0.0/31", NULL, ERROR_NONE},
		{"eth0", NULL, "10.0.0.1/31", "10.0.0.0", ERROR_NONE},
		{"eth0", NULL, "10.0.0.0/32", NULL, ERROR_NONE},
		{"eth0", NULL, "10.0.0.3/30", NULL, ERROR_INTERFACE_ADDRESS_INVALID},
		{"eth0", NULL, "127.1.2.3/8", NULL, ERROR_INTERFACE_ADDRESS_INVALID},
		{"eth0", NULL, "224.0.0.1/24", NULL, ERROR_INTERFACE_ADDRESS_INVALID},
		{"eth0", NULL, "0.0.0.0/32", NULL, ERROR_INTERFACE_ADDRESS_INVALID},
		{"eth0", NULL, "::1/128", NULL, ERROR_INTERFACE_ADDRESS_INVALID},
		{"eth0", NULL, "fd00::/64", NULL, ERROR_INTERFACE_ADDRESS_INVALID},
		{"eth0", NULL, "fd00::ffff:ffff:ffff:ffff/64", NULL, ERROR_NONE},
		{"eth0", NULL, "fd00::/127", NULL, ERROR_NONE},
		{"eth0", NULL, "fd00::1/129", NULL, ERROR_INTERFACE_ADDRESS_INVALID},
		{"eth0", NULL, "[fd00::1]/64", NULL, ERROR_INTERFACE_ADDRESS_INVALID},
		{"eth0", NULL, "10.0.0.5/24", "10.0.0.5", ERROR_INTERFACE_GATEWAY_INVALID},
		{"eth0", NULL, "10.0.0.5/24", "10.0.0.1/24", ERROR_INTERFACE_GATEWAY_INVALID},
		{"eth0", NULL, "10.0.1.5/23", "10.0.0.1", ERROR_NONE},
		{"eth0", NULL, "10.0.0.5/32", "10.0.0.1", ERROR_INTERFACE_GATEWAY_INVALID},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_error struct error err = ERROR_INIT;
		struct request_interface itf = {.name = TEXT("a"),
			.source = text_of(rows[i].source),
			.target = text_of(rows[i].target),
			.address = text_of(rows[i].address),
			.gateway = text_of(rows[i].gateway)};
		(void)!validate_interface(&itf, &err);
		if (err.code != rows[i].code)
			fail_msg("row %zu: %s", i, error_code_text(err.code));
	}
	auto_error struct error err = ERROR_INIT;
	const struct request_interface swap[] = {
		{.name = TEXT("a"), .source = TEXT("eth0"), .target = TEXT("eth1")},
		{.name = TEXT("b"), .source = TEXT("eth1"), .target = TEXT("eth0")},
	};
	assert_done(validate_interfaces(swap, 2, &err), &err);
	const struct request_interface twice[] = {
		{.name = TEXT("a"), .source = TEXT("eth0"), .target = TEXT("eth1")},
		{.name = TEXT("b"), .source = TEXT("eth1")},
	};
	assert_int_equal(validate_interfaces(twice, 2, &err), -1);
	assert_int_equal(err.code, ERROR_INTERFACE_DUPLICATE);
	struct request_interface mtu = {.name = TEXT("a"), .source = TEXT("eth0"), .mtu = -1};
	assert_int_equal(validate_interface(&mtu, &err), -1);
}

static void test_secret_files(void **state)
{
	(void)state;
	static const struct {
		const char *dir, *name, *mode;
		enum error_code code;
	} rows[] = {
		{"/run/cloop", "a", "", ERROR_SECRET_DIR_INVALID},
		{"/run/cloop/", "a", "", ERROR_SECRET_DIR_INVALID},
		{"/run/cloop/init-standalone/x", "a", "", ERROR_SECRET_DIR_INVALID},
		{"/run/cloop/init2", "a", "", ERROR_NONE},
		{"/run/cloop/ctl/x", "a", "", ERROR_SECRET_DIR_INVALID},
		{"/run/cloopx/a", "a", "", ERROR_SECRET_DIR_INVALID},
		{"/run/cloop/a\n", "a", "", ERROR_SECRET_DIR_INVALID},
		{"/run/cloop/a", "a\tb", "", ERROR_SECRET_NAME_INVALID},
		{"/run/cloop/a", "...", "", ERROR_NONE},
		{"/run/cloop/a", "a b", "0500", ERROR_NONE},
		{"/run/cloop/a", "a", "0300", ERROR_SECRET_MODE_INVALID},
		{"/run/cloop/a", "a", "000", ERROR_SECRET_MODE_INVALID},
		{"/run/cloop/a", "a", "60", ERROR_SECRET_MODE_INVALID},
		{"/run/cloop/a", "a", "00600", ERROR_SECRET_MODE_INVALID},
		{"/run/cloop/a", "a", "0800", ERROR_SECRET_MODE_INVALID},
		{"/run/cloop/a", "a", "0601", ERROR_SECRET_MODE_INVALID},
		{"/run/cloop/a", "a", "700", ERROR_NONE},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_error struct error err = ERROR_INIT;
		struct secret_file f = {
			text_of(rows[i].dir), text_of(rows[i].name), 262144, text_of(rows[i].mode)};
		(void)!validate_secret_files(&f, 1, &err);
		if (err.code != rows[i].code)
			fail_msg("row %zu: %s", i, error_code_text(err.code));
	}
	struct secret_file five[5];
	auto_error struct error err = ERROR_INIT;
	for (size_t i = 0; i < 5; i++)
		five[i] = (struct secret_file){
			TEXT("/run/cloop/a"), {&"abcde"[i], 1}, i < 4 ? 262144 : 0, TEXT("")};
	assert_done(validate_secret_files(five, 5, &err), &err);
	five[4].size = 1;
	assert_int_equal(validate_secret_files(five, 5, &err), -1);
	assert_int_equal(err.code, ERROR_SECRETS_TOO_LARGE);
	five[4].name = TEXT("a");
	assert_int_equal(validate_secret_files(five, 5, &err), -1);
	assert_int_equal(err.code, ERROR_SECRET_DUPLICATE);
}

static void check_value(struct text in, const char *expected)
{
	AUTO(str) out = STR_INIT(1024);

	label_value(&out, in);
	assert_string_equal(str_text(&out), expected);
}

static void test_made_names(void **state)
{
	(void)state;
	char name[64], cut[260] = "";
	const char *e_acute = "\xc3\xa9";

	check_value(TEXT("a\xff\xc3(\0\x7f\xe2\x82"), "a__(____");
	check_value(TEXT("\xc2\x85"), "\xc2\x85");
	AUTO(str) long_value = STR_INIT(1024);
	for (int i = 0; i < 255; i++)
		cut[i] = 'a';
	str_addf(&long_value, "%s%s", cut, e_acute);
	check_value((struct text){str_text(&long_value), long_value.len}, cut);

	container_name(TEXT("/a/b//"), TEXT("c-"), name);
	assert_string_equal(name, "cloop-b-run");
	container_name(TEXT("a"), TEXT("C-A_1"), name);
	assert_string_equal(name, "cloop-a-ca1");
	container_name(TEXT("/x/" A16 "aaaaaaaaaaaaaaa!b"), TEXT("c-c-1"), name);
	assert_string_equal(name, "cloop-" A16 "aaaaaaaaaaaaaaa-c1");
	container_name(TEXT("/x"), TEXT(A62 A62), name);
	assert_int_equal(strlen(name), 63);
	assert_false(oci_class_kernel_isolated(oci_class_of(TEXT("x.kata"))));
	assert_true(oci_class_of(TEXT("\tRUNSC.x\n")).gvisor);
	assert_true(oci_class_of(TEXT("kata.gvisor.x")).virtualized);
	assert_true(oci_class_of(TEXT("kata.gvisor.x")).gvisor);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_user),
		cmocka_unit_test(test_add_host),
		cmocka_unit_test(test_extra_arg_values),
		cmocka_unit_test(test_extra_args_together),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_devices),
		cmocka_unit_test(test_interfaces),
		cmocka_unit_test(test_secret_files),
		cmocka_unit_test(test_made_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
