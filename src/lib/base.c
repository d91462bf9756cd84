/* What the library's headers share (include/cloop/base.h). */
#include "cloop/base.h"

#include <stdlib.h>

const char *cloop_version(void)
{
	return CLOOP_VERSION;
}

void cloop_string_free(char *text)
{
	free(text);
}

void cloop_strings_free(char **list)
{
	for (char **p = list; p && *p; p++)
		free(*p);
	free(list);
}
