/* Between deliver.c and its parts: one function per kind, as deliver_grant(). */
#pragma once

#include "vault/deliver.h"

/* Values and files of credentials: deliver-secret.c. */
must_check int deliver_env(const struct delivery *d, struct error *err);
must_check int deliver_file(const struct delivery *d, struct error *err);
must_check int deliver_registry(const struct delivery *d, struct error *err);
must_check int deliver_kubeconfig(const struct delivery *d, struct error *err);
/* Parts of the host: deliver-host.c. */
must_check int deliver_devices(const struct delivery *d, struct error *err);
must_check int deliver_interfaces(const struct delivery *d, struct error *err);
must_check int deliver_repos(const struct delivery *d, struct error *err);

/* out_of_range: one run cannot hold that many. */
int deliver_full(const char *what, struct error *err);
/* Adds a variable that holds no secret. */
must_check int deliver_plain_variable(
	struct material *m, const char *name, struct text value, struct error *err);
