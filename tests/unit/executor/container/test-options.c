/* Edges of container-driver.md §3 that the public cases leave out. */
#include "unit/unit.h"

#include "base/json.h"
#include "executor/container/options.h"

/* JSON with ' for ". */
static int normalize(const char *text, struct container_options *ret, struct error *err)
{
	AUTO(str) quoted_text = STR_INIT(1 << 16);
	AUTO(container_options) given;

	container_options_init(&given);
	for (; *text; text++)
		str_add_char(&quoted_text, *text == '\'' ? '"' : *text);
	auto_json *object = json_read((struct text){str_text(&quoted_text), quoted_text.len},
		1 << 16, "test", ERROR_USAGE, err);
	if (!object)
		fail_msg("%s", err->message);
	if (container_options_from_json(object, &given, err) < 0)
		return -1;
	return container_options_normalize(&given, ret, err);
}

static void test_codes(void **state)
{
	(void)state;
	static const struct {
		const char *json;
		enum error_code code;
	} rows[] = {
		{"[]", ERROR_OPTION_INVALID},
		{"{'memory':'2g'}", ERROR_OPTION_UNKNOWN},
		{"{'enabled':true}", ERROR_OPTION_UNKNOWN},
		{"{'id':'!','nope':1}", ERROR_OPTION_UNKNOWN},
		{"{'id':null,'cpus':null,'extra_args':null}", ERROR_NONE},
		{"{'id':7}", ERROR_EXECUTOR_ID_INVALID},
		{"{'id':' a'}", ERROR_EXECUTOR_ID_INVALID},
		{"{'id':'a\\u0000'}", ERROR_EXECUTOR_ID_INVALID},
		{"{'runtime':'podman\\u0000x'}", ERROR_RUNTIME_UNSUPPORTED},
		{"{'runtime':' '}", ERROR_RUNTIME_UNSUPPORTED},
		{"{'oci_runtime':'a\\u0000/'}", ERROR_OCI_RUNTIME_PATH},
		{"{'image':''}", ERROR_IMAGE_REF_EMPTY},
		{"{'image':'a:1\\u0000b'}", ERROR_IMAGE_REF_BAD_BYTE},
		{"{'network':' \\t'}", ERROR_NONE},
		{"{'network':' host'}", ERROR_NETWORK_NAME_INVALID},
		{"{'selinux_label':'Z\\u0000'}", ERROR_SELINUX_LABEL_INVALID},
		{"{'group_add':46}", ERROR_GROUP_ADD_INVALID},
		{"{'group_add':[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]}", ERROR_NONE},
		{"{'group_add':[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]}",
			ERROR_GROUP_ADD_INVALID},
		{"{'group_add':[2147483647,'2147483647']}", ERROR_NONE},
		{"{'group_add':[2147483648]}", ERROR_GROUP_ADD_INVALID},
		{"{'group_add':['2147483648']}", ERROR_GROUP_ADD_INVALID},
		{"{'group_add':[4294967297]}", ERROR_GROUP_ADD_INVALID},
		{"{'group_add':['0']}", ERROR_GROUP_ADD_INVALID},
		{"{'group_add':['046']}", ERROR_GROUP_ADD_INVALID},
		{"{'group_add':[4.0]}", ERROR_GROUP_ADD_INVALID},
		{"{'cpus':1024.001}", ERROR_CPUS_INVALID},
		{"{'cpus':1e308}", ERROR_CPUS_INVALID},
		{"{'cpus':1.0005}", ERROR_CPUS_INVALID},
		{"{'cpus':0.1}", ERROR_NONE},
		{"{'cpus':1023.999}", ERROR_NONE},
		{"{'cpus':'1.5'}", ERROR_NONE},
		{"{'cpus':'1.5000'}", ERROR_CPUS_INVALID},
		{"{'cpus':'.5'}", ERROR_CPUS_INVALID},
		{"{'cpus':true}", ERROR_CPUS_INVALID},
		{"{'memory_mb':1048576}", ERROR_NONE},
		{"{'memory_mb':1048577}", ERROR_MEMORY_INVALID},
		{"{'memory_mb':'64'}", ERROR_MEMORY_INVALID},
		{"{'pids_limit':4194304}", ERROR_NONE},
		{"{'pids_limit':1.5}", ERROR_PIDS_INVALID},
		{"{'egress_filter':{'enabled':true},'network':'bridge'}", ERROR_NONE},
		{"{'egress_filter':{}}", ERROR_NONE},
		{"{'egress_filter':true}", ERROR_OPTION_INVALID},
		{"{'allow_hosts':[]}", ERROR_NONE},
		{"{'allow_hosts':['nope']}", ERROR_ALLOW_HOSTS_WITHOUT_NETWORK},
		{"{'allow_hosts':['a:1.2.3.4\\u0000'],'network':'n'}", ERROR_ADD_HOST_INVALID},
		{"{'extra_args':['--dns=1.1.1.1\\u0000']}", ERROR_EXTRA_ARG_CONTROL},
		{"{'extra_args':'--dns=1.1.1.1'}", ERROR_OPTION_INVALID},
		{"{'extra_args':['--tz=UTC'],'runtime':'docker'}", ERROR_EXTRA_ARG_ENGINE},
		{"{'extra_args':['--tz=UTC'],'runtime':'/opt/docker'}", ERROR_EXTRA_ARG_ENGINE},
		{"{'extra_args':['--tz=UTC'],'runtime':'/opt/docker/podman'}", ERROR_NONE},
		{"{'start_timeout_seconds':0}", ERROR_OPTION_OUT_OF_RANGE},
		{"{'start_timeout_seconds':3601}", ERROR_OPTION_OUT_OF_RANGE},
		{"{'stop_grace_seconds':-1}", ERROR_OPTION_OUT_OF_RANGE},
		{"{'log_max_mb':4097}", ERROR_OPTION_OUT_OF_RANGE},
		{"{'allow_root_user':1}", ERROR_OPTION_INVALID},
		{"{'derived_image_days':1,'disk_quota':null,'image_policy':{}}", ERROR_NONE},
		/* Table order, of types and values alike. */
		{"{'cpus':'x','id':'!'}", ERROR_EXECUTOR_ID_INVALID},
		{"{'memory_mb':'x','cpus':2000}", ERROR_CPUS_INVALID},
		{"{'image':'A','oci_runtime':'-'}", ERROR_OCI_RUNTIME_DASH},
		{"{'extra_args':['-v'],'allow_hosts':['x']}", ERROR_ALLOW_HOSTS_WITHOUT_NETWORK},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_error struct error err = ERROR_INIT;
		AUTO(container_options) o;
		container_options_init(&o);
		int r = normalize(rows[i].json, &o, &err);
		if ((r == 0) != (rows[i].code == ERROR_NONE) || err.code != rows[i].code)
			fail_msg("%s: %s", rows[i].json, error_code_text(err.code));
	}
}

/* Every thousandth up to 1024 comes through as it is written, as JSON number and as text. */
static void test_every_thousandth(void **state)
{
	(void)state;
	AUTO(container_options) o;
	auto_error struct error err = ERROR_INIT;

	container_options_init(&o);
	for (unsigned millis = 0; millis <= 1024000; millis += 7) {
		char text[64];
		uint64_t got;
		int n = snprintf(text, sizeof(text), "%u.%03u", millis / 1000, millis % 1000);
		assert_done(
			container_options_cpus((struct text){text, (size_t)n}, &got, &err), &err);
		assert_int_equal(got, millis);
		snprintf(text, sizeof(text), "{'cpus':%u.%03u}", millis / 1000, millis % 1000);
		assert_done(normalize(text, &o, &err), &err);
		assert_int_equal(o.cpu_millis, millis);
	}
}

static void test_copy(void **state)
{
	(void)state;
	AUTO(container_options) in, out;
	auto_error struct error err = ERROR_INIT;

	container_options_init(&in);
	container_options_init(&out);
	assert_done(normalize("{'network':'n','allow_hosts':['a:1.2.3.4'],'cpus':2.5,"
			      "'stop_grace_seconds':0,'group_add':[7],'pids_limit':-9}",
			    &in, &err),
		&err);
	assert_int_equal(in.pids_limit, -1);
	/* What is normal stays as it is. */
	assert_done(container_options_normalize(&in, &out, &err), &err);
	assert_string_equal(out.network, "n");
	assert_ptr_not_equal(out.network, in.network);
	assert_string_equal(out.allow_hosts.v[0], "a:1.2.3.4");
	assert_int_equal(out.cpu_millis, 2500);
	assert_int_equal(out.stop_grace_seconds, 0);
	assert_int_equal(out.start_timeout_seconds, 120);
	assert_int_equal(out.group_add[0], 7);
	assert_int_equal(out.pids_limit, -1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_codes),
		cmocka_unit_test(test_every_thousandth),
		cmocka_unit_test(test_copy),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
