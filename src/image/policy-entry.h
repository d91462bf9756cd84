/*
 * The texts of sandbox.image_policy, each judged alone (image-trust.md §3.2). Pure; nothing is
 * trimmed. All of these give PROBLEM_NONE and, where there is one, the normal form, or the code of
 * the first fault; the length and the emptiness of the text are the caller's to check (at most
 * IMAGE_TEXT_MAX bytes, keys excepted; a byte outside 0x21-0x7E is found here).
 */
#pragma once

#include <stdbool.h>

#include "base/text.h"
#include "image/reference.h"
#include "yaml/problem.h"

enum { POLICY_ENTRY_SIZE = IMAGE_TEXT_MAX + sizeof("library/") };

struct policy_entry {
	/*
	 * Registries: "host[:port]", "*.suffix[:port]", "*". Repositories: the same parts as in a
	 * reference, with the final slash and star if it has them.
	 */
	char text[POLICY_ENTRY_SIZE];
	/* Of a repository: the length of its registry in `text`; 0 = it names none. */
	size_t registry_len;
};

/* An item of allowed_registries. */
enum problem_code policy_entry_registry(struct text t, struct policy_entry *ret);
/* An item of allowed_repos; whether it may stand without a registry is for the list to say. */
enum problem_code policy_entry_repo(struct text t, struct policy_entry *ret);
/* default_registry. */
enum problem_code policy_entry_host(struct text t, struct policy_entry *ret);
/* An item of insecure_registries. */
enum problem_code policy_entry_loopback(struct text t, struct policy_entry *ret);
/* An item of cosign_public_keys. */
enum problem_code policy_entry_key(struct text path);
/* The issuer of an identity. */
enum problem_code policy_entry_issuer(struct text url);

/* A valid registry item is *.SUFFIX with a suffix of one label. */
bool policy_entry_is_broad(const struct policy_entry *registry);
