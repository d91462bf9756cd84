/* Kinds of derived images: dockerfile, setup_key, build_network, build_argv. */
#include "runner/case.h"

#include "base/mem.h"
#include "image/setup.h"

enum { TEXT_MAX = 1 << 20, LIST_MAX = 64 };

static enum image_store engine_of(json_t *c)
{
	return text_is(json_get_text(c, "engine"), "docker") ? IMAGE_STORE_DOCKER
							     : IMAGE_STORE_PODMAN;
}

/* A member that is to be there. */
static const char *string_of(json_t *c, const char *key)
{
	const char *s = json_get_string(c, key);

	return s ? s : "";
}

/* *ret_commands holds the commands; caller frees. */
static struct setup_facts facts_of(json_t *c, struct text **ret_commands)
{
	json_t *setup = json_object_get(c, "setup"), *command;
	size_t n = json_array_size(setup), i;

	*ret_commands = mem_alloc(n * sizeof(**ret_commands));
	json_array_foreach(setup, i, command)(*ret_commands)[i] = json_text(command);
	return (struct setup_facts){
		.engine = engine_of(c),
		.base_id = string_of(c, "base_id"),
		.base = string_of(c, "base"),
		.open_network = text_is(json_get_text(c, "network"), "open"),
		.cpu_millis = (uint64_t)json_get_int(c, "cpu_millis", 0),
		.memory_mb = (uint64_t)json_get_int(c, "memory_mb", 0),
		.commands = *ret_commands,
		.n_commands = n,
	};
}

static void run_dockerfile(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(str) out = STR_INIT(TEXT_MAX);
	auto_free struct text *commands = NULL;
	struct setup_facts facts = facts_of(c, &commands);

	if (setup_dockerfile(&facts, string_of(c, "key"), &out, &err) < 0)
		case_subset(r, c, json_pack("{s:s}", "error", error_code_text(err.code)));
	else
		case_subset(r, c, json_pack("{s:s}", "text", str_text(&out)));
}

static void run_setup_key(json_t *c, struct case_result *r)
{
	auto_free struct text *commands = NULL;
	struct setup_facts facts = facts_of(c, &commands);
	char key[SHA256_HEX_SIZE];

	setup_key(&facts, key);
	case_subset(r, c, json_pack("{s:s}", "key", key));
}

static void run_build_network(json_t *c, struct case_result *r)
{
	struct setup_network n = {
		.engine = engine_of(c),
		.executor = string_of(c, "run_network"),
		.disabled = json_get_bool(c, "disabled", false),
		.filtered = json_get_bool(c, "filtered", false),
		.egress_scope = string_of(c, "egress_scope"),
		.egress_session = json_get_bool(c, "egress_session", false),
	};

	case_exact(r, c, json_string(setup_network_of(&n)));
}

static void run_build_argv(json_t *c, struct case_result *r)
{
	AUTO(strv) ulimits = STRV_INIT(LIST_MAX);
	AUTO(strv) argv = STRV_INIT(SETUP_ARGV_MAX);
	json_t *ulimit;
	size_t i;

	json_array_foreach(json_object_get(c, "ulimits"), i, ulimit)
		strv_add(&ulimits, json_string_value(ulimit));
	struct setup_build b = {
		.engine = engine_of(c),
		.program = string_of(c, "engine"),
		.nonce = string_of(c, "nonce"),
		.iidfile = string_of(c, "iidfile"),
		.network = string_of(c, "network"),
		.cpu_millis = (uint64_t)json_get_int(c, "cpu_millis", 0),
		.memory_mb = (uint64_t)json_get_int(c, "memory_mb", 0),
		.ulimits = &ulimits,
		.context = string_of(c, "context"),
	};
	setup_build_argv(&b, &argv);
	case_subset(r, c, json_pack("{s:o}", "argv", json_from_strings(argv.v, argv.n)));
}

static const char *const dockerfile_fields[] = {"base_id", "base", "key", "setup", NULL};
static const char *const setup_key_fields[] = {
	"engine", "base_id", "base", "network", "cpu_millis", "memory_mb", "setup", NULL};
static const char *const build_network_fields[] = {
	"engine", "run_network", "disabled", "filtered", "egress_scope", "egress_session", NULL};
static const char *const build_argv_fields[] = {"engine", "nonce", "iidfile", "network",
	"cpu_millis", "memory_mb", "ulimits", "context", NULL};

const struct case_kind case_image_setup_kinds[] = {
	{"dockerfile", dockerfile_fields, run_dockerfile},
	{"setup_key", setup_key_fields, run_setup_key},
	{"build_network", build_network_fields, run_build_network},
	{"build_argv", build_argv_fields, run_build_argv},
	{0},
};
