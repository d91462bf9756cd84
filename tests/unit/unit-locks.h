/* Whether mlock() locks: AddressSanitizer makes it do nothing. */
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define LOCKS false
#elif defined(__has_feature)
#define LOCKS (!__has_feature(address_sanitizer))
#else
#define LOCKS true
#endif
