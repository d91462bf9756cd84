#include "guest/tool.h"

#include <string.h>
#include <unistd.h>

static int say(int fd, const char *line, int status)
{
	size_t len = strlen(line);

	return write(fd, line, len) == (ssize_t)len ? status : 1;
}

int tool_main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "version") == 0)
		return say(STDOUT_FILENO, "cloop " CLOOP_VERSION " (sandbox)\n", 0);
	if (argc == 3 && strcmp(argv[1], "version") == 0 && strcmp(argv[2], "--json") == 0)
		return say(
			STDOUT_FILENO, "{\"version\":\"" CLOOP_VERSION "\",\"sandbox\":true}\n", 0);
	return say(STDERR_FILENO,
		"cloop: inside a sandbox there is only `cloop version [--json]`\n", 2);
}
