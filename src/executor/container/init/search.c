#include "executor/container/init/search.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char default_path[] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

static const char *path_of(char *const envp[])
{
	for (; *envp; envp++)
		if (strncmp(*envp, "PATH=", 5) == 0)
			return *envp + 5;
	return default_path;
}

static int try_file(const char *file, char *const argv[], char *const envp[], bool *found)
{
	struct stat st;

	execve(file, argv, envp);
	int error = errno;
	if (stat(file, &st) == 0)
		*found = true;
	return error;
}

/* DIRECTORY/word; a name that the kernel would call too long is that here, too. */
static int try_directory(
	const char *directory, size_t len, char *const argv[], char *const envp[], bool *found)
{
	char file[PATH_MAX];
	size_t word = strlen(argv[0]);

	if (len == 0) {
		directory = ".";
		len = 1;
	}
	if (len + 1 + word >= sizeof(file))
		return ENAMETOOLONG;
	memcpy(file, directory, len);
	file[len] = '/';
	memcpy(file + len + 1, argv[0], word + 1);
	return try_file(file, argv, envp, found);
}

static bool goes_on(int error)
{
	return error == ENOENT || error == ENOTDIR || error == EACCES;
}

static int search_path(char *const argv[], char *const envp[], bool *found)
{
	const char *at = path_of(envp);
	bool denied = false;

	for (;;) {
		size_t len = strcspn(at, ":");
		int error = try_directory(at, len, argv, envp, found);
		if (!goes_on(error))
			return error;
		if (error == EACCES)
			denied = true;
		if (at[len] == '\0')
			return denied ? EACCES : error;
		at += len + 1;
	}
}

void search_exec(char *const argv[], char *const envp[], struct init_failure *f)
{
	bool found = false;
	int error = ENOENT;

	if (strchr(argv[0], '/'))
		error = try_file(argv[0], argv, envp, &found);
	else if (argv[0][0] != '\0')
		error = search_path(argv, envp, &found);
	*f = (struct init_failure){(uint32_t)error, INIT_STEP_EXEC, found};
}
