/*
 * policy-bench: how many images are judged in a second (image-trust.md §3.4), under policies of
 * different size, allowed and refused. Prints; asserts nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "image/verdict.h"

enum { ROUNDS = 400000 };

#define DIGEST "@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void measure(const char *name, const struct image_policy *p, const char *image)
{
	struct image_verdict v;
	unsigned allowed = 0;
	double begin = now();

	for (int i = 0; i < ROUNDS; i++) {
		image_verdict(p, IMAGE_ORIGIN_PROJECT, text_of(image), &v);
		allowed += v.allowed;
	}
	double seconds = now() - begin;
	printf("%-28s %10.0f verdicts/s, %s\n", name, ROUNDS / seconds,
		allowed ? "allowed" : image_rule_text(v.rule));
}

static void add(struct schema_list *list, const char *fmt, int n)
{
	list->items.max = POLICY_REPOS_MAX;
	for (int i = 0; i < n; i++)
		if (strv_take(&list->items, mem_printf("%s%d", fmt, i)) < 0)
			abort();
}

static void add_entry(struct schema_list *list, const char *entry)
{
	list->items.max = POLICY_REPOS_MAX;
	if (strv_add(&list->items, entry) < 0)
		abort();
}

int main(void)
{
	AUTO(image_policy) none = {.default_registry = NULL};
	AUTO(image_policy) typical = {.require_digest = true};
	AUTO(image_policy) large = {.require_digest = true};

	add_entry(&typical.allowed_registries, "ghcr.io");
	add_entry(&typical.allowed_registries, "*.example.com");
	add_entry(&typical.allowed_repos, "ghcr.io/acme/*");
	image_policy_index(&typical);
	add(&large.allowed_registries, "registry-", POLICY_REGISTRIES_MAX - 1);
	add_entry(&large.allowed_registries, "ghcr.io");
	add(&large.allowed_repos, "ghcr.io/acme/tool-", POLICY_REPOS_MAX - 1);
	add_entry(&large.allowed_repos, "ghcr.io/acme/*");
	image_policy_index(&large);
	measure("no policy", &none, "ghcr.io/acme/tools:3.12" DIGEST);
	measure("typical", &typical, "ghcr.io/acme/tools:3.12" DIGEST);
	measure("256 registries, 1024 repos", &large, "ghcr.io/acme/tools:3.12" DIGEST);
	measure("typical, refused registry", &typical, "quay.io/acme/tools:3.12" DIGEST);
	measure("typical, refused tag", &typical, "ghcr.io/acme/tools:3.12");
	measure("typical, malformed", &typical, "ghcr.io/Acme/tools:3.12");
	return 0;
}
