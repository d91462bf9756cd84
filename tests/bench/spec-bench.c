/*
 * spec-bench: how many typical sandbox.yaml files are judged and hashed in a second, and how long
 * the worst of a set of hostile 64 KiB files takes (sandbox-spec.md §16.2). Prints; asserts
 * nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "image/reference.h"
#include "spec/spec.h"

enum { TYPICAL_ROUNDS = 40000, HOSTILE_ROUNDS = 5 };

static const char typical[] =
	"# what the tasks run in\n"
	"image: ghcr.io/acme/python-toolchain:3.12\n"
	"setup:\n"
	"- pip install --no-cache-dir -r requirements.txt\n"
	"- apt-get update && apt-get install -y --no-install-recommends ripgrep\n"
	"env:\n- ANTHROPIC_API_KEY\n- GITHUB_TOKEN\n"
	"resources:\n  cpu: 2\n  memory: 4g\n  pids: 512\n  disk: 2g\n"
	"capabilities:\n  git: true\n  network: egress_2f1c9a4e7b3d05286af1c0d4\n"
	"  egress: public\n  devices: [serial0]\n"
	"mounts:\n- source: .cache/pip\n  target: /home/agent/.cache/pip\n"
	"- source: vendor\n  target: /opt/vendor\n  read_only: true\n";

/* head, then `unit` until the file is full; %u in a unit is a running number. */
static const struct hostile {
	const char *head, *unit;
} hostile[] = {
	{"", "["},
	{"", "{"},
	{"", "- "},
	{"", "? "},
	{"", "a: "},
	{"", "{a: "},
	{"", "[a,"},
	{"", "a"},
	{"", " "},
	{"", "\n"},
	{"", "#"},
	{"", "# \n"},
	{"", "\""},
	{"", "'"},
	{"", ":"},
	{"", ","},
	{"", "%TAG !a%u! x\n"},
	{"", "%YAML 1.1\n"},
	{"", "---\n"},
	{"", "...\n"},
	{"a\n...\n", "%TAG !a%u! x\n"},
	{"", "k%u: 1\n"},
	{"", "image: a\n"},
	{"", "? k%u\n"},
	{"", "&a k%u: &b x\n"},
	{"", "&a "},
	{"a: [", "&a%u b, "},
	{"a: [", "*a, "},
	{"a: [", "! b, "},
	{"a: [", "!!str b, "},
	{"a: [", "&a !b c, "},
	{"", "<<: 1\n"},
	{"", "~: 1\n"},
	{"", "{} : 1\n"},
	{"{", "k%u, "},
	{"{", "\"image\": 1, "},
	{"[", "a: b, "},
	{"[", "[a], "},
	{"[", "{a: b}, "},
	{"setup:\n", "- a\n"},
	{"setup: [\"", "\\e"},
	{"setup: [\"", "\\x41"},
	{"setup:\n- |\n", "  a\n"},
	{"setup:\n- >\n", "  a\n\n"},
	{"setup: [", "'a b c d e f g h', "},
	{"env: [", "A=%u, "},
	{"image: \"", "a/"},
	{"image: ", "\xc3\xa9"},
	{"mounts: [", "{source: /a, target: b}, "},
	{"mounts: [{source: \"", "../"},
	{"mounts: [{target: \"/", "a/"},
	{"# ", "\xf0\x9f\x98\x80"},
	{"resources: {cpu: ", "1"},
	{"", "memroy%u: 1\n"},
	{"", "a:\n b:\n  c:\n   d: 1\n"},
	{"a: \"", "\\\n"},
	{"a: ", "b\n  "},
	{"a: 'b", "\n\n"},
	{"a: |\n", "\n"},
	{"a: |\n", "                  \n"},
	{"", "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa%u\": 1\n"},
	{"a: [", "!<x> b,"},
	{"a: [", "'',"},
	{"a: [[[[[[", "1,"},
	{"", "? |\n aaaaaaa\n: b\n"},
	{"", "!a !b "},
	{"{", "? a: ,"},
	{"[", "? a, "},
	{"a: &", "x"},
	{"a: !", "x"},
	{"a: *", "x"},
};

static int check_image(struct text t, struct error *err)
{
	struct image_reference ignored;

	return image_reference_parse(t, &ignored, err);
}

static const struct spec_checks checks = {.image = check_image};

/* Of the processor: other work on the machine does not count. */
static int64_t cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int64_t judge(struct text bytes, struct str *ret_code)
{
	struct spec_result r;
	int64_t start = cpu_us();

	spec_parse(bytes, &checks, &r);
	int64_t us = cpu_us() - start;
	str_reset(ret_code);
	str_addf(ret_code, "%s, %zu errors", r.ok ? "ok" : r.errors.v[0].code, r.errors.total);
	spec_result_done(&r);
	return us;
}

static void add_unit(struct str *out, const char *unit, unsigned number)
{
	for (; *unit; unit++) {
		if (unit[0] == '%' && unit[1] == 'u') {
			str_addf(out, "%u", number);
			unit++;
		} else {
			str_add_char(out, *unit);
		}
	}
}

static int64_t judge_hostile(const struct hostile *h)
{
	AUTO(str) bytes = STR_INIT(SPEC_MAX_BYTES + 4096);
	AUTO(str) code = STR_INIT(256);
	int64_t best = INT64_MAX;

	str_add_text(&bytes, h->head);
	for (unsigned i = 0; bytes.len < SPEC_MAX_BYTES; i++)
		add_unit(&bytes, h->unit, i);
	for (int i = 0; i < HOSTILE_ROUNDS; i++) {
		int64_t us = judge((struct text){bytes.data, SPEC_MAX_BYTES}, &code);
		best = us < best ? us : best;
	}
	printf("%8.3f ms  %s%s  (%s)\n", (double)best / 1000, quoted_string(h->head),
		quoted_string(h->unit), str_text(&code));
	return best;
}

int main(void)
{
	AUTO(str) code = STR_INIT(256);
	int64_t us = 0, worst = 0;

	for (int i = 0; i < TYPICAL_ROUNDS; i++)
		us += judge(TEXT(typical), &code);
	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++) {
		int64_t one = judge_hostile(&hostile[i]);
		worst = one > worst ? one : worst;
	}
	printf("typical: %.0f files/s (%s)\n", TYPICAL_ROUNDS * 1e6 / (double)us, str_text(&code));
	printf("worst hostile: %.3f ms\n", (double)worst / 1000);
	return 0;
}
