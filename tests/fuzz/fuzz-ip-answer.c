/*
 * Answers of ip(8) (container-driver.md §17.2), as links and as routes: what is found is among what
 * was read, and a route that is named names its interface.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/cleanup.h"
#include "executor/container/ip-answer.h"
#include "json-mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_error struct error err = ERROR_INIT;
	struct text t = {(const char *)data, size};
	AUTO(ip_links) links = {.v = NULL};
	auto_free char *route = NULL;

	if (ip_answer_links(t, &links, &err) == 0)
		for (size_t i = 0; i < links.n; i++) {
			const struct ip_link *l = &links.v[i];
			struct ip_identity who = {
				.index = l->index, .mac = l->mac, .names = {l->name}};
			const struct ip_link *found = ip_answer_find(&links, &who);
			assert(l->index > 0 && l->name[0] && found);
			assert(found->index == l->index && strcmp(found->mac, l->mac) == 0);
		}
	if (ip_answer_default_route(t, "eth0", &route, &err) == 1)
		assert(strstr(route, "dev eth0"));
	return 0;
}
