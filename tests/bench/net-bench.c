/*
 * net-bench: what compiling an egress filter costs (network.md §4), and rendering and asking it, at
 * the largest filter that is allowed. Prints; asserts nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "net/egress-evaluate.h"
#include "net/nft-script.h"

enum { ROUNDS = 200, PROBES = 100000 };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void add(struct strv *list, char *item)
{
	if (strv_take(list, item) < 0)
		abort();
}

/* 256 ranges allowed, 256 denied, 64 ports, 16 resolvers, 256 patterns. */
static void fill(struct egress_filter *f)
{
	egress_filter_init(f);
	f->allow_public_internet = true;
	for (int i = 0; i < EGRESS_FILTER_CIDRS_MAX; i++) {
		add(&f->allow_cidrs, mem_printf("10.%d.0.0/16", i));
		add(&f->deny_cidrs, mem_printf("10.%d.7.0/24", i));
		add(&f->host_patterns, mem_printf("*.host-%d.example.com", i));
	}
	for (int i = 0; i < EGRESS_FILTER_PORTS_MAX; i++)
		add(&f->allow_ports, mem_printf("%d", 1000 + i));
	for (int i = 0; i < EGRESS_FILTER_RESOLVERS_MAX; i++)
		add(&f->resolvers, mem_printf("9.9.9.%d", i + 1));
}

static void compile(const struct egress_filter *f, struct egress_policy *ret)
{
	auto_error struct error err = ERROR_INIT;

	if (egress_policy_compile(f, ret, &err) < 0)
		abort();
}

static void measure_compile(const struct egress_filter *f)
{
	double begin = now();

	for (int i = 0; i < ROUNDS; i++) {
		AUTO(egress_policy) p = {.n_rules = 0};
		compile(f, &p);
	}
	printf("%-28s %10.3f ms\n", "compile 256 ranges", (now() - begin) / ROUNDS * 1e3);
}

static void measure_render(const struct egress_policy *p)
{
	auto_error struct error err = ERROR_INIT;
	struct nft_script_names names = {NFT_BRIDGE, TEXT("t"), TEXT("b"), TEXT("c")};
	size_t bytes = 0;
	double begin = now();

	for (int i = 0; i < ROUNDS; i++) {
		AUTO(str) out = STR_INIT(NFT_SCRIPT_MAX);
		if (nft_script_render(p, &names, &out, &err) < 0)
			abort();
		bytes = out.len;
	}
	printf("%-28s %10.3f ms, %zu bytes\n", "nft script", (now() - begin) / ROUNDS * 1e3, bytes);
}

static void measure_evaluate(const struct egress_policy *p)
{
	struct egress_probe probe;
	size_t allowed = 0;

	if (!egress_evaluate_read(TEXT("93.184.216.34:1063"), &probe))
		abort();
	double begin = now();
	for (int i = 0; i < PROBES; i++) {
		const struct egress_rule *r = egress_evaluate(p, &probe, EGRESS_WIRE);
		allowed += r && r->allow;
	}
	printf("%-28s %10.3f us, %s\n", "evaluate, last rule", (now() - begin) / PROBES * 1e6,
		allowed ? "allow" : "drop");
}

int main(void)
{
	AUTO(egress_filter) f;
	AUTO(egress_policy) p = {.n_rules = 0};

	fill(&f);
	measure_compile(&f);
	compile(&f, &p);
	measure_render(&p);
	measure_evaluate(&p);
	return 0;
}
