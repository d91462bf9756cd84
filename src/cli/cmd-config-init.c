/* cloop config init: a file whose values work on this host (config.md §3). */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "config/source.h"
#include "config/template.h"
#include "run/probe.h"

enum { FILE_MAX = 65536, ENTRIES = 7 };

static int render(const struct probe *p, struct str *ret, struct error *err)
{
	char *runtime[] = {p->runtime, NULL};
	char *oci_runtime[] = {p->oci_runtime, NULL};
	char z[] = "z", *label[] = {z, NULL};
	const struct template_entry entries[ENTRIES] = {
		{"executors.allow_host_process", NULL,
			"nothing runs outside a sandbox unless you say so"},
		{"executors.limits.max_memory", NULL,
			"ceilings for every run: max_cpu, max_memory, max_disk, max_pids"},
		{"executors.container.runtime", p->runtime ? runtime : NULL,
			p->runtime ? "found to start containers here"
				   : "no engine starts a container here yet"},
		{"executors.container.oci_runtime",
			p->oci_runtime && p->oci_runtime[0] ? oci_runtime : NULL,
			"the program that the engine starts containers with"},
		{"executors.container.image", NULL,
			"the image of projects that name none; cloop never pulls"},
		{"executors.container.network", NULL, "none, bridge, or a network that you made"},
		{"executors.container.selinux_label", label,
			"SELinux enforces here: what a sandbox sees of the host gets a label"},
	};
	size_t n = p->selinux ? ENTRIES : ENTRIES - 1;

	return template_render(
		"cloop: what anyone may have. `cloop config check` judges this file,\n"
		"`cloop config show --defaults` lists every key.",
		entries, n, ret, err);
}

static void report(const struct probe *p)
{
	const struct {
		const char *title;
		const struct strv *lines;
	} parts[] = {{"found", &p->found}, {"missing", &p->missing}};

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		strv_foreach (line, parts[i].lines) {
			auto_free char *shown = cli_plain(*line);
			fprintf(stderr, "%s: %s\n", parts[i].title, shown);
		}
}

static int run(struct cli *c, struct error *err)
{
	AUTO(home) home = HOME_INIT;
	AUTO(probe) p = PROBE_INIT;
	AUTO(str) text = STR_INIT(FILE_MAX);
	AUTO(source_change) change = SOURCE_CHANGE_INIT;
	struct stat st;

	const char *path = cli_config(c, err);
	if (!path)
		return -1;
	if (source_change_begin(path, &change, err) < 0)
		return -1;
	if (lstat(path, &st) == 0 && !cli_flag(c, "--force"))
		return error_set(err, ERROR_CONFIG_EXISTS, "there is a configuration at %s",
			quoted_string(path));
	if (cli_home_open(c, &home, err) < 0)
		return -1;
	probe_host(&home, &p);
	if (render(&p, &text, err) < 0 ||
		source_replace(&change, path, (struct text){str_text(&text), text.len},
			source_default_mode(), err) < 0)
		return -1;
	if (c->json) {
		cli_print_json(json_pack("{s:o, s:o, s:o, s:o, s:o}", "path",
			json_from_string(path), "runtime", json_from_string(p.runtime),
			"oci_runtime", json_from_string(p.oci_runtime), "found",
			json_from_strings(p.found.v, p.found.n), "missing",
			json_from_strings(p.missing.v, p.missing.n)));
	} else {
		report(&p);
		printf("%s\n", path);
	}
	return p.runtime ? CLI_OK : CLI_REFUSED;
}

static const struct option options[] = {
	{"--force", NULL, "replace a file that is there", NULL, false},
	{NULL, NULL, NULL, NULL, false},
};

const struct verb cmd_config_init = {
	.group = "config",
	.name = "init",
	.summary = "write a configuration that works on this host",
	.flags = VERB_JSON | VERB_HOME | VERB_CONFIG,
	.options = options,
	.help = "Finds out which engine and which OCI runtime really start a container here, and "
		"writes a "
		"commented file with those values; says what it found and what is missing. Exits "
		"with 1 "
		"when no engine starts a container; the file is written all the same.",
	.exits = "0 written, and an engine starts containers; 1 written, and none does, or failed; "
		 "2 wrong usage",
	.run = run,
};
