#include "sys/thread.h"

#include <signal.h>

int thread_begin(pthread_t *ret, size_t stack, void *(*fn)(void *data), void *data)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all, before;

	if (pthread_attr_init(&attr) != 0)
		return -1;
	pthread_attr_setstacksize(&attr, stack);
	if (!ret)
		pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	int r = pthread_create(ret ? ret : &thread, &attr, fn, data);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return r == 0 ? 0 : -1;
}
