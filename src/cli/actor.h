/* Who gives a command, for rows that say so: the name of the effective user, else `uid:N`. */
#pragma once

#include "base/cleanup.h"

must_check char *actor_name(void); /* caller frees */
