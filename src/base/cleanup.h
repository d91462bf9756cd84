/*
 * Cleanup attributes: declare where you acquire, hand over with TAKE_PTR / TAKE_FD. A function
 * that uses them has one way out of every scope and no goto.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define must_check __attribute__((warn_unused_result))
#define printf_like(fmt, args) __attribute__((format(printf, fmt, args)))

/* Gives the value away and leaves NULL behind, so that the cleanup does nothing. */
#define TAKE_PTR(p) \
	({ \
		__typeof__(p) *_where = &(p); \
		__typeof__(p) _value = *_where; \
		*_where = NULL; \
		_value; \
	})

/* The same for a descriptor; -1 is "none". */
#define TAKE_FD(fd) \
	({ \
		int *_where = &(fd); \
		int _value = *_where; \
		*_where = -1; \
		_value; \
	})

static inline void cleanup_free(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_file(FILE **f)
{
	if (*f)
		fclose(*f);
}

#define auto_free __attribute__((cleanup(cleanup_free)))
#define auto_fd __attribute__((cleanup(cleanup_fd)))
#define auto_file __attribute__((cleanup(cleanup_file)))

/*
 * AUTO(type) declares a `struct type` that `type_done()` releases at the end of the scope:
 *     AUTO(str) out = STR_INIT(4096);
 */
#define AUTO(type) __attribute__((cleanup(type##_done))) struct type
/* AUTO_PTR(type): a heap `struct type *` that `type_free()` releases. Needs DEFINE_AUTO_PTR. */
#define AUTO_PTR(type) __attribute__((cleanup(type##_freep))) struct type *
#define DEFINE_AUTO_PTR(type) \
	static inline void type##_freep(struct type **p) \
	{ \
		type##_free(*p); \
	}

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
