#include "spec/env-filter.h"

bool env_filter_passes_name(const struct sandbox_spec *spec, struct text name)
{
	if (!spec->env.given)
		return true;
	strv_foreach (listed, &spec->env.items)
		if (text_is(name, *listed))
			return true;
	return false;
}

bool env_filter_passes(const struct sandbox_spec *spec, struct text entry)
{
	const char *equals = entry.len ? memchr(entry.p, '=', entry.len) : NULL;

	if (!spec->env.given)
		return true;
	if (!equals || equals == entry.p)
		return false;
	return env_filter_passes_name(spec, (struct text){entry.p, (size_t)(equals - entry.p)});
}
