/*
 * The one static file that is PID 1 of every sandbox, and its `cloop` (container-driver.md §23.1).
 * The name it is called by decides; there is no other switch, and no variable but PATH is read.
 */
#include <string.h>

#include "guest/gate.h"
#include "guest/process.h"
#include "guest/standalone.h"
#include "guest/tool.h"

enum { EXIT_USAGE = 125 };

static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

int main(int argc, char **argv)
{
	const char *name = argc > 0 ? last_component(argv[0]) : "";
	int (*run)(char **) = strcmp(name, "init") == 0              ? gate_main
			      : strcmp(name, "init-standalone") == 0 ? standalone_main
								     : NULL;

	if (!run)
		return tool_main(argc, argv);
	if (argc < 2) {
		process_complain((const char *[]){"no command was given", NULL});
		return EXIT_USAGE;
	}
	return run(argv + 1);
}
