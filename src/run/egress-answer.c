#include "run/egress-answer.h"

#include <string.h>

enum { VERSION_LEN = 9 /* "HTTP/1.1 " */, STATUS_LEN = 3 };

struct egress_answer egress_answer_read(struct text bytes)
{
	const char *end = memmem(bytes.p, bytes.len, "\r\n\r\n", 4);
	struct egress_answer a = {
		.whole = end != NULL,
		.verdict = TEXT("none"),
		.status = TEXT(""),
		.body = TEXT(""),
	};

	if (!end)
		return a;
	struct text head = {bytes.p, (size_t)(end - bytes.p)};
	struct text verdict = text_value(head, "X-Cloop-Egress-Verdict");
	if (verdict.p)
		a.verdict = verdict;
	if (head.len >= VERSION_LEN + STATUS_LEN)
		a.status = (struct text){head.p + VERSION_LEN, STATUS_LEN};
	a.body = text_after(bytes, head.len + 4);
	return a;
}
