#include "vault/payload-lines.h"

#include "vault/payload.h"

static bool too_many(struct text payload)
{
	unsigned lines = payload.len > 0 && payload.p[payload.len - 1] != '\n';

	for (size_t i = 0; i < payload.len && lines <= PAYLOAD_LINES_MAX; i++)
		lines += payload.p[i] == '\n';
	return lines > PAYLOAD_LINES_MAX;
}

int payload_lines_read(struct text payload,
	int (*entry)(void *context, struct text line, unsigned number, struct error *err),
	void *context, struct error *err)
{
	struct text line;
	bool any = false;

	if (too_many(payload))
		return payload_invalid(err, PAYLOAD_LINES_MAX + 1, "too_many_lines");
	for (unsigned number = 1; text_split(&payload, '\n', &line); number++) {
		line = text_trim_line(line);
		if (line.len == 0 || line.p[0] == '#')
			continue;
		any = true;
		if (entry(context, line, number, err) < 0)
			return -1;
	}
	return any ? 0 : payload_invalid(err, 0, "empty");
}
