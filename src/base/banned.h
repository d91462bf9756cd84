/*
 * Functions that have one home or none (HACKING.md, "Banned functions"). Forced into every file
 * of src/ and tests/ by the build; a home says #undef after its includes.
 * The headers that declare them come first, so that only our own calls meet the macros.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <jansson.h>

#define BANNED(func) sorry_##func##_is_banned_see_banned_h

#undef strtol
#define strtol(...) BANNED(strtol)
#undef strtoul
#define strtoul(...) BANNED(strtoul)
#undef strtoll
#define strtoll(...) BANNED(strtoll)
#undef strtoull
#define strtoull(...) BANNED(strtoull)
#undef strtod
#define strtod(...) BANNED(strtod)
#undef atoi
#define atoi(...) BANNED(atoi)
#undef atol
#define atol(...) BANNED(atol)
#undef sscanf
#define sscanf(...) BANNED(sscanf)
#undef strtok
#define strtok(...) BANNED(strtok)
#undef strtok_r
#define strtok_r(...) BANNED(strtok_r)
#undef system
#define system(...) BANNED(system)
#undef popen
#define popen(...) BANNED(popen)
#undef sprintf
#define sprintf(...) BANNED(sprintf)
#undef vsprintf
#define vsprintf(...) BANNED(vsprintf)
#undef strcpy
#define strcpy(...) BANNED(strcpy)
#undef strcat
#define strcat(...) BANNED(strcat)
#undef strncpy
#define strncpy(...) BANNED(strncpy)
#undef getenv
#define getenv(...) BANNED(getenv)
#undef secure_getenv
#define secure_getenv(...) BANNED(secure_getenv)
