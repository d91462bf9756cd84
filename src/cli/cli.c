#include "cli/cli.h"

#include <assert.h>
#include <errno.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/num.h"
#include "cli/verbs.h"
#include "run/context.h"
#include "run/revoke.h"
#include "sys/env.h"
#include "sys/log.h"

void cli_done(struct cli *c)
{
	free(c->values);
	free(c->args);
	free(c->home);
	free(c->config);
	*c = (struct cli){0};
}

const char *cli_option_next(const struct cli *c, const char *name, size_t *at)
{
	/* A name that the table lacks is a slip in a command: it could never be given. */
	assert(verbs_option(c->verb, name, strlen(name)));
	while (*at < c->n_values) {
		const struct cli_value *v = &c->values[(*at)++];
		if (strcmp(v->option->name, name) == 0)
			return v->text ? v->text : "";
	}
	return NULL;
}

const char *cli_option(const struct cli *c, const char *name)
{
	size_t at = 0;

	return cli_option_next(c, name, &at);
}

bool cli_flag(const struct cli *c, const char *name)
{
	return cli_option(c, name) != NULL;
}

int cli_option_number(const struct cli *c, const char *name, uint64_t max, uint64_t absent,
	uint64_t *ret, struct error *err)
{
	const char *text = cli_option(c, name);
	uint64_t value = absent;

	if (text && num_parse(text_of(text), max, &value) != NUM_OK)
		return cli_usage(c, err, "option %s: %s is no whole number up to %llu", name,
			quoted_string(text), (unsigned long long)max);
	*ret = value;
	return 0;
}

int cli_option_duration_ms(
	const struct cli *c, const char *name, uint64_t absent, uint64_t *ret, struct error *err)
{
	const char *text = cli_option(c, name);
	uint64_t value = absent;

	if (text && num_parse_duration_ms(text_of(text), &value) != NUM_OK)
		return cli_usage(c, err,
			"option %s: %s is no duration (a whole number with ms, s, m, h or d)", name,
			quoted_string(text));
	*ret = value;
	return 0;
}

const char *cli_arg(const struct cli *c, size_t i)
{
	return i < c->n_args ? c->args[i] : NULL;
}

static int absolute(const char *path, char **ret, struct error *err)
{
	if (path[0] == '/') {
		*ret = mem_strdup(path);
		return 0;
	}
	auto_free char *here = getcwd(NULL, 0);
	if (!here)
		return error_set_errno(err, ERROR_IO, errno, "resolving %s: current directory",
			quoted_string(path));
	*ret = mem_printf("%s/%s", here, path);
	return 0;
}

/* $variable, else the user's home directory and the usual place below it. */
static int user_directory(const char *variable, const char *below, char **ret, struct error *err)
{
	const char *base = env_get(variable), *home = env_get("HOME");

	if (base && base[0] == '/') {
		*ret = mem_strdup(base);
		return 0;
	}
	const struct passwd *pw = home ? NULL : getpwuid(geteuid());
	if (pw)
		home = pw->pw_dir;
	if (!home || home[0] != '/') {
		error_set(err, ERROR_HOME_UNUSABLE, "this user has no home directory");
		return error_set_remedy(
			err, "set HOME, or name the paths: --home DIR --config FILE");
	}
	*ret = mem_printf("%s/%s", home, below);
	return 0;
}

static int default_path(bool config, char **ret, struct error *err)
{
	auto_free char *base = NULL;

	if (geteuid() == 0) {
		*ret = mem_strdup(config ? "/etc/cloop/config.yaml" : "/var/lib/cloop");
		return 0;
	}
	if (user_directory(config ? "XDG_CONFIG_HOME" : "XDG_STATE_HOME",
		    config ? ".config" : ".local/state", &base, err) < 0)
		return -1;
	*ret = mem_printf("%s/cloop%s", base, config ? "/config.yaml" : "");
	return 0;
}

int cli_check_paths(const struct cli *c, struct error *err)
{
	static const char *const options[] = {"--home", "--config"};

	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		const char *named = cli_option(c, options[i]);
		if (named && named[0] == '\0')
			return cli_usage(c, err, "%s names no path", options[i]);
	}
	return 0;
}

static const char *named_path(const struct cli *c, const char *option, const char *variable)
{
	const char *text = cli_option(c, option);

	return text ? text : env_get(variable);
}

static int resolve(const char *named, bool config, char **where, struct error *err)
{
	return named ? absolute(named, where, err) : default_path(config, where, err);
}

static const char *path_of(const char *named, bool config, char **where, struct error *err)
{
	if (!*where && resolve(named, config, where, err) < 0)
		return NULL;
	return *where;
}

const char *cli_home(struct cli *c, struct error *err)
{
	return path_of(named_path(c, "--home", "CLOOP_HOME"), false, &c->home, err);
}

const char *cli_config(struct cli *c, struct error *err)
{
	return path_of(named_path(c, "--config", "CLOOP_CONFIG"), true, &c->config, err);
}

const char *cli_policy(struct cli *c, struct error *err)
{
	const char *path = cli_config(c, err);

	if (path && named_path(c, "--config", "CLOOP_CONFIG") && access(path, F_OK) < 0 &&
		errno == ENOENT)
		log_warning("there is no configuration %s: the defaults apply, and no policy",
			quoted_string(path));
	return path;
}

int cli_home_open(struct cli *c, struct home *ret, struct error *err)
{
	const char *home = cli_home(c, err);

	return home ? home_open(home, ret, err) : -1;
}

int cli_context_open(struct cli *c, struct context *ret, struct error *err)
{
	const char *home = cli_home(c, err);
	const char *config = home ? cli_policy(c, err) : NULL;

	return config ? context_open(home, config, ret, err) : -1;
}

void cli_revoke_due(struct cli *c, const struct home *home)
{
	auto_error struct error ignored = ERROR_INIT;

	revoke_due(home, cli_config(c, &ignored));
}

int cli_home_open_due(struct cli *c, struct home *ret, struct error *err)
{
	if (cli_home_open(c, ret, err) < 0)
		return -1;
	cli_revoke_due(c, ret);
	return 0;
}

int cli_usage(const struct cli *c, struct error *err, const char *fmt, ...)
{
	va_list ap;
	AUTO(str) name = STR_INIT(64);

	va_start(ap, fmt);
	auto_free char *text = mem_vprintf(fmt, ap);
	va_end(ap);
	if (c->verb)
		verbs_write_name(&name, c->verb, ' ');
	else if (c->group)
		str_add_text(&name, c->group);
	error_set(err, ERROR_USAGE, "%s", text);
	return error_set_remedy(err, "see: cloop help%s%s", name.len ? " " : "", str_text(&name));
}

/* The same JSON; a terminal obeys no character of it. */
static void print_for_terminal(const json_t *answer)
{
	auto_free char *text = json_write_pretty(answer);
	struct text rest = text_of(text);

	for (size_t n; rest.len > 0; rest = text_after(rest, n)) {
		uint32_t c = 0;
		n = utf8_next(rest, &c);
		n = n ? n : 1;
		if (c != '\n' && utf8_control(c))
			printf("\\u%04x", c);
		else
			fwrite(rest.p, 1, n, stdout);
	}
	puts("");
}

void cli_print_json(json_t *answer)
{
	auto_free char *text = NULL;

	if (isatty(STDOUT_FILENO))
		print_for_terminal(answer);
	else
		puts(text = json_write(answer));
	json_decref(answer);
}

char *cli_plain(const char *text)
{
	size_t n = strlen(text);
	AUTO(str) shown = STR_INIT(4 * n + 1);

	text_escape(&shown, text_of(text), n);
	return str_take(&shown);
}

char *cli_shown(const json_t *value)
{
	auto_free char *text = json_is_string(value) ? NULL : json_write(value);

	return cli_plain(text ? text : json_string_value(value));
}

static void print_line(const char *label, const char *style, const char *text)
{
	AUTO(str) shown = STR_INIT(8 * ERROR_TEXT_MAX);
	bool color = cli_color(2);

	text_escape(&shown, text_of(text), ERROR_TEXT_MAX);
	fprintf(stderr, "%s%s%s %s\n", color ? style : "", label, color ? "\033[0m" : "",
		str_text(&shown));
}

static void print_problem(const char *file, const json_t *p)
{
	const char *path = json_get_string(p, "path"), *fix = json_get_string(p, "remediation");
	AUTO(str) text = STR_INIT(4 * ERROR_TEXT_MAX);

	str_add_text(&text, file);
	if (json_is_integer(json_object_get(p, "line")))
		str_addf(&text, ":%d:%d", (int)json_get_int(p, "line", 0),
			(int)json_get_int(p, "column", 0));
	str_addf(&text, ": %s%s%s", path, path[0] ? ": " : "", json_get_string(p, "message"));
	print_line("  and:", "", str_text(&text));
	if (fix[0])
		print_line("  fix:", "\033[1m", fix);
}

/* A configuration is told with all that is wrong with it (config.md §1); the message is the first.
 */
static void print_others(const struct error *err)
{
	const char *file = json_get_string(err->details, "path");
	const json_t *problems = json_object_get(err->details, "errors");

	for (size_t i = 1; file && i < json_array_size(problems); i++)
		print_problem(file, json_array_get(problems, i));
}

void cli_print_error(const struct cli *c, const struct error *err)
{
	if (c->json) {
		cli_print_json(error_to_json(err));
		return;
	}
	print_line("cloop:", "\033[1;31m", err->message);
	if (error_remedy(err)[0])
		print_line("  fix:", "\033[1m", error_remedy(err));
	print_others(err);
}

int cli_error_exit(const struct cli *c, const struct error *err)
{
	if (error_is(err, ERROR_USAGE))
		return CLI_USAGE;
	return c->verb && c->verb->flags & VERB_RUN_EXIT ? error_code_run_exit(err->code)
							 : CLI_REFUSED;
}

bool cli_color(int fd)
{
	return !env_get("NO_COLOR") && isatty(fd);
}
