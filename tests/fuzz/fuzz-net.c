/*
 * Ranges, endpoints, patterns and probes: what is accepted has one spelling, and that reads back as
 * the same. A filter made of the input: every reading of it answers the same.
 */
#include "../unit/net/random-filter.h"
#include "net/host-pattern.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_cidr(struct text t)
{
	auto_error struct error err = ERROR_INIT;
	char text[CIDR_TEXT_SIZE];
	struct cidr c, again;

	if (cidr_parse(t, &c, &err) < 0) {
		assert(err.code == ERROR_EGRESS_CIDR_INVALID);
		return;
	}
	assert(address_host_part_is(&c.address, c.bits, false));
	cidr_text(&c, text);
	int parsed = cidr_parse(text_of(text), &again, &err);
	assert(parsed == 0 && cidr_compare(&c, &again) == 0);
}

static void check_endpoint(enum endpoint_role role, struct text t)
{
	auto_error struct error err = ERROR_INIT;
	char text[ENDPOINT_TEXT_SIZE];
	struct endpoint e, again;

	if (endpoint_parse(role, t, &e, &err) < 0)
		return;
	assert(e.port > 0 && !address_loopback(&e.address) && !address_multicast(&e.address));
	endpoint_text(&e, text);
	int parsed = endpoint_parse(role, text_of(text), &again, &err);
	assert(parsed == 0 && endpoint_compare(&e, &again) == 0);
}

static void check_host(struct text t)
{
	auto_error struct error err = ERROR_INIT;
	char out[HOST_PATTERN_SIZE], again[HOST_PATTERN_SIZE];

	if (host_pattern_parse(t, out, &err) < 0)
		return;
	int parsed = host_pattern_parse(text_of(out), again, &err);
	assert(parsed == 0 && strcmp(out, again) == 0);
	assert(host_pattern_matches(out, out) || strchr(out, '*'));
}

static void check_probe(struct text t)
{
	char text[EGRESS_PROBE_SIZE], second[EGRESS_PROBE_SIZE];
	struct egress_probe p, again;

	if (!egress_evaluate_read(t, &p))
		return;
	egress_evaluate_text(&p, text);
	bool read = egress_evaluate_read(text_of(text), &again);
	assert(read);
	egress_evaluate_text(&again, second);
	assert(strcmp(text, second) == 0);
}

static void check_comment(struct text t)
{
	char out[NFT_COMMENT_MAX + 1], again[NFT_COMMENT_MAX + 1];

	nft_script_comment(t, out);
	assert(strlen(out) <= NFT_COMMENT_MAX && !strpbrk(out, "\"\\;{}#\n\r\t"));
	assert(utf8_valid(text_of(out)));
	nft_script_comment(text_of(out), again);
	assert(strcmp(out, again) == 0);
}

static void check_policy(const uint8_t *data, size_t size)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(egress_filter) f;
	AUTO(egress_policy) p = {.n_rules = 0};
	struct random r = {.bytes = data, .left = size};
	struct readings readings;

	random_filter(&r, &f);
	if (egress_policy_compile(&f, &p, &err) < 0)
		return;
	readings_make(&p, &readings);
	for (int i = 0; i < 8; i++) {
		struct egress_probe probe = random_probe(&r, &p);
		assert(*readings_disagree(&p, &readings, &probe) == '\0');
	}
	readings_done(&readings);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text t = {(const char *)data, size};

	check_cidr(t);
	check_endpoint(ENDPOINT_BROKER, t);
	check_endpoint(ENDPOINT_RESOLVER, t);
	check_host(t);
	check_probe(t);
	check_comment(t);
	check_policy(data, size);
	return 0;
}
