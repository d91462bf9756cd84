#include "sys/file-list.h"

#include <dirent.h>
#include <fcntl.h>

#include "base/strv.h"
#include "base/text.h"

void file_list_at(int dir, const char *prefix, struct strv *ret)
{
	auto_fd int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);

	if (!d)
		return;
	copy = -1;
	for (const struct dirent *e; (e = readdir(d));)
		if (text_starts(text_of(e->d_name), prefix) && strv_add(ret, e->d_name) < 0)
			break;
	closedir(d);
}
