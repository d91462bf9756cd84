/*
 * golden-argv INPUT.json: the engine's line of an `argv` case (container-driver.md §1), a word a
 * line, and what travels beside it. Control characters are escaped.
 */
#include <stdio.h>

#include "executor/container/argv.h"
#include "runner/request-json.h"

enum { INPUT_BYTES_MAX = 1 << 20 };

static void print(const char *before, struct text t)
{
	AUTO(str) out = STR_INIT(INPUT_BYTES_MAX);

	text_escape(&out, t, t.len);
	printf("%s%s\n", before, str_text(&out));
}

static void print_line(const struct argv_line *line)
{
	AUTO(strv) env = STRV_INIT(ENVIRONMENT_NAMES_MAX);
	struct text rest = {str_text(&line->env.file), line->env.file.len}, part;

	strv_foreach (word, &line->argv)
		print("", text_of(*word));
	puts("--- environment of the client");
	environment_plan_add_client(&line->env, strv_add, &env);
	strv_foreach (entry, &env)
		print("", text_of(*entry));
	puts("--- env file");
	while (text_split(&rest, '\n', &part))
		if (part.len)
			print("", part);
	puts("--- mounts");
	for (size_t i = 0; i < line->mounts.n; i++) {
		print(line->mounts.v[i].read_only ? "ro " : "rw ",
			text_of(line->mounts.v[i].source));
		print("   at ", text_of(line->mounts.v[i].target));
	}
	printf("--- limits\ncpu_millis %llu, memory_mb %llu, pids %lld\n",
		(unsigned long long)line->limits.cpu_millis,
		(unsigned long long)line->limits.memory_mb, (long long)line->limits.pids);
}

static int run(const char *path, struct error *err)
{
	AUTO(str) input = STR_INIT(INPUT_BYTES_MAX);
	AUTO(argv_line) line = ARGV_LINE_INIT;
	AUTO(request_input) in = {.n_memory = 0};
	auto_file FILE *f = fopen(path, "re");

	if (!f)
		return error_set(err, ERROR_IO, "%s cannot be opened", path);
	char *room = str_reserve(&input, INPUT_BYTES_MAX - 1);
	input.len = fread(room, 1, INPUT_BYTES_MAX - 1, f);
	auto_json *object = json_read((struct text){str_text(&input), input.len}, INPUT_BYTES_MAX,
		path, ERROR_USAGE, err);
	if (!object || request_input_read(object, &in, err) < 0 ||
		argv_build(&in.runtime, &in.options, &in.request, &in.host, &line, err) < 0)
		return -1;
	print_line(&line);
	return 0;
}

int main(int argc, char **argv)
{
	auto_error struct error err = ERROR_INIT;

	if (argc == 2 && run(argv[1], &err) == 0)
		return 0;
	if (argc != 2)
		error_set(&err, ERROR_USAGE, "usage: golden-argv INPUT.json");
	printf("%s: %s\n", error_code_text(err.code), err.message);
	return 1;
}
