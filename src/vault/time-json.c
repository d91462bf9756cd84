#include "vault/time-json.h"

#include "sys/clock.h"

enum { NS_PER_SECOND = 1000000000 };

json_t *time_json(int64_t seconds)
{
	char text[CLOCK_TEXT_SIZE];

	if (seconds == 0)
		return json_null();
	clock_format(seconds * NS_PER_SECOND, text);
	return json_string(text);
}
