#include "sys/pipe.h"

#include <sys/ioctl.h>

size_t pipe_waiting(int fd)
{
	int n = 0;

	return ioctl(fd, FIONREAD, &n) < 0 || n < 0 ? 0 : (size_t)n;
}
