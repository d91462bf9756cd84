#include "sys/pipe.h"

#include <sys/ioctl.h>
#include <unistd.h>

size_t pipe_waiting(int fd)
{
	int n = 0;

	return ioctl(fd, FIONREAD, &n) < 0 || n < 0 ? 0 : (size_t)n;
}

size_t pipe_read(int fd, void *buffer, size_t size, size_t *left)
{
	ssize_t n = *left > 0 ? read(fd, buffer, *left < size ? *left : size) : 0;

	if (n <= 0)
		return 0;
	*left -= (size_t)n;
	return (size_t)n;
}
