#include "executor/container/supervise/mask.h"

#include <string.h>

#include "base/mem.h"
#include "executor/container/supervise/supervisor.h"

int mask_value(struct supervisor *s, struct text value, struct error *err)
{
	int r = output_redact(&s->output, value, err);

	s->unmasked += r == 1;
	return r < 0 ? -1 : 0;
}

int mask_variables(struct supervisor *s, const struct strv *environment, struct error *err)
{
	strv_foreach (entry, environment) {
		size_t n = strcspn(*entry, "=");
		auto_free char *name = mem_strndup(*entry, n);
		if (strv_has(&s->plan.redact, name) && (*entry)[n] != '\0' &&
			mask_value(s, text_of(*entry + n + 1), err) < 0)
			return -1;
	}
	return 0;
}

void mask_note(struct supervisor *s)
{
	if (s->unmasked > 0)
		supervisor_note(s,
			"%u values are shorter than 8 bytes and are not masked in the output",
			s->unmasked);
}

char *mask_words(struct supervisor *s, struct text words)
{
	AUTO(str) shown = STR_INIT(SIZE_MAX / 2);

	redact_text(s->output.redactor, words, &shown);
	return str_take(&shown);
}

void mask_error(struct supervisor *s, struct error *err)
{
	auto_free char *message = mask_words(s, text_of(err->message));
	auto_free char *remedy = mask_words(s, text_of(err->remedy));

	snprintf(err->message, sizeof(err->message), "%s", message);
	snprintf(err->remedy, sizeof(err->remedy), "%s", remedy);
}
