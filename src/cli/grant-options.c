#include "cli/grant-options.h"

#include <stdio.h>
#include <string.h>

#include "executor/rundir/home.h"
#include "store/store.h"
#include "sys/file.h"
#include "vault/ttl.h"

enum { LIST_MAX = 1024 };

json_t *grant_options_list(const struct cli *c, const char *option)
{
	json_t *list = NULL;
	size_t at = 0;

	for (const char *value; (value = cli_option_next(c, option, &at));) {
		struct text rest = text_of(value), part;
		if (!list)
			list = json_array();
		while (text_split(&rest, ',', &part) && json_array_size(list) < LIST_MAX)
			json_array_append_new(list, json_from_bytes(part));
	}
	return list;
}

const char *grant_options_subject(const struct cli *c, struct error *err)
{
	const char *to = cli_option(c, "--to"), *subject = cli_option(c, "--subject");

	if (to && subject && strcmp(to, subject) != 0) {
		cli_usage(c, err, "--to and --subject are the same: give one of them");
		return NULL;
	}
	if (!to && !subject)
		cli_usage(c, err, "name who gets it with --to SUBJECT");
	return to ? to : subject;
}

int grant_options_ttl(const struct cli *c, int64_t *ret, struct error *err)
{
	const char *ttl = cli_option(c, "--ttl");

	*ret = TTL_DEFAULT;
	return ttl ? ttl_parse(text_of(ttl), ret, err) : 0;
}

int grant_options_look(struct cli *c, const char *wanted, struct subject *ret,
	struct store **ret_store, struct error *err)
{
	AUTO(home) home = HOME_INIT;

	if (wanted && subject_parse(text_of(wanted), ret, err) < 0)
		return -1;
	if (cli_home_open_due(c, &home, err) < 0)
		return -1;
	return store_open_existing(home.path, ret_store, err);
}

void grant_options_warn(const char *subject)
{
	const char *path = strncmp(subject, "project:/", 9) == 0 ? subject + 8 : NULL;
	auto_free char *resolved = path ? file_resolve(path) : NULL;

	if (!path || (resolved && strcmp(resolved, path) == 0))
		return;
	auto_free char *shown = cli_plain(path);
	auto_free char *other = resolved ? cli_plain(resolved) : NULL;
	if (other)
		fprintf(stderr,
			"cloop: note: %s leads to %s, and runs go by that path: "
			"grant to project:%s\n",
			shown, other, other);
	else
		fprintf(stderr, "cloop: note: there is no directory %s now\n", shown);
}
