/*
 * libcurl, loaded when a registry is asked for the first time: with what it brings along it would
 * add some 8 ms to the start of every command (Debian 12: 30 libraries), and few ask a registry.
 */
#pragma once

#include <curl/curl.h>

#include "base/error.h"

#define CURL_LIBRARY_FUNCTIONS(f) \
	f(global_init_mem) f(easy_init) f(easy_cleanup) f(easy_setopt) f(easy_getinfo) \
		f(easy_strerror) f(easy_header) f(multi_init) f(multi_cleanup) f(multi_add_handle) \
			f(multi_remove_handle) f(multi_perform) f(multi_poll) f(multi_info_read) \
				f(slist_append) f(slist_free_all)

struct curl_library {
/* The macros of curl.h that check types stand in the way of the names. */
#define CURL_LIBRARY_MEMBER(name) __typeof__(curl_##name) *name;
	CURL_LIBRARY_FUNCTIONS(CURL_LIBRARY_MEMBER)
#undef CURL_LIBRARY_MEMBER
};

/*
 * Loaded and initialised, for the life of the process; what it frees is wiped, since it copies
 * credentials. NULL: registry_unreachable, with what to install.
 */
must_check const struct curl_library *curl_library(struct error *err);
