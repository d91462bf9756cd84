/* Judges each line of stdin as a subject_regexp: "ok" or "no" on stdout (tests/e2e/test_re2.py). */
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "image/regexp.h"

int main(void)
{
	auto_free char *line = NULL;
	size_t size = 0;
	ssize_t n;

	while ((n = getline(&line, &size, stdin)) >= 0) {
		struct regexp_facts facts;
		struct text t = {line, (size_t)n};
		if (n > 0 && line[n - 1] == '\n')
			t.len--;
		puts(regexp_judge(t, &facts) == REGEXP_OK ? "ok" : "no");
	}
	return 0;
}
