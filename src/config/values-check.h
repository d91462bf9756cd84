/*
 * Checks that the tables of config.yaml name: options of executors by their own rules
 * (container-driver.md §3, with its codes), and what this version cannot honour, which is refused
 * (not_available_yet), never ignored. Internal to src/config.
 */
#pragma once

#include "schema/schema.h"

struct container_options;
struct values_container;

/* Of executors.egress: egress/remote.h. */
bool values_check_listen(struct schema_bind *b, const struct schema_key *key, const struct node *n,
	struct text value);
bool values_check_advertise(struct schema_bind *b, const struct schema_key *key,
	const struct node *n, struct text value);
bool values_check_id(struct schema_bind *b, const struct schema_key *key, const struct node *n,
	struct text value);
/* Only warns: what is no build refuses agents when they are placed (sandbox-spec.md §12.1). */
bool values_check_build(struct schema_bind *b, const struct schema_key *key, const struct node *n,
	struct text value);
/* Across executors: what waits for the hub has no effect in this version, and is told. */
void values_check_executors(struct schema_bind *b, const struct schema_section *s, void *out);
/* Cores with at most three decimals: uint64_t, thousandths. */
bool values_check_cpus(
	struct schema_bind *b, const struct schema_key *key, const struct node *n, void *field);

void values_check_kubernetes(struct schema_bind *b, const struct schema_section *s, void *out);
/* Every option by the rule of its row, so that all that are wrong are told at once. */
void values_check_container(struct schema_bind *b, const struct schema_section *s, void *out);
/* All options together, normalized; *ret must be initialised. */
must_check int values_check_options(
	const struct values_container *c, struct container_options *ret, struct error *err);
