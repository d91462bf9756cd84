#include "vault/payload-lines.h"

#include "vault/payload.h"

/* Blanks and tabs only: a CR is an ordinary character. */
static struct text trim(struct text t)
{
	while (t.len > 0 && (t.p[0] == ' ' || t.p[0] == '\t'))
		t = text_after(t, 1);
	while (t.len > 0 && (t.p[t.len - 1] == ' ' || t.p[t.len - 1] == '\t'))
		t.len--;
	return t;
}

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
		line = trim(line);
		if (line.len == 0 || line.p[0] == '#')
			continue;
		any = true;
		if (entry(context, line, number, err) < 0)
			return -1;
	}
	return any ? 0 : payload_invalid(err, 0, "empty");
}
