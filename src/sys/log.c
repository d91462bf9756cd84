#include "sys/log.h"
