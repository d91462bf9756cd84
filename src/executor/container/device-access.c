#include "executor/container/device-access.h"

#include <string.h>

#include "base/num.h"

/* The first of the four numbers: what the process is, before anything it may change to. */
static bool first_number(struct text list, uint64_t *ret)
{
	struct text part = {"", 0};

	if (list.p)
		text_split(&list, '\t', &part);
	return num_parse(part, UINT32_MAX, ret) == NUM_OK;
}

static bool add_groups(struct text list, struct device_access_who *who)
{
	struct text part;
	uint64_t gid;

	while (text_split(&list, ' ', &part)) {
		if (part.len == 0)
			continue;
		if (who->n_groups > DEVICE_ACCESS_GROUPS_MAX ||
			num_parse(part, UINT32_MAX, &gid) != NUM_OK)
			return false;
		who->groups[who->n_groups++] = (gid_t)gid;
	}
	return true;
}

bool device_access_read(struct text status, struct device_access_who *ret)
{
	struct device_access_who who = {.n_groups = 1};
	struct text groups = text_value(status, "Groups");
	uint64_t uid, gid;

	if (!groups.p || !first_number(text_value(status, "Uid"), &uid) ||
		!first_number(text_value(status, "Gid"), &gid))
		return false;
	who.uid = (uid_t)uid;
	who.groups[0] = (gid_t)gid;
	if (!add_groups(groups, &who))
		return false;
	*ret = who;
	return true;
}

bool device_access_allows(const struct device_access_node *n, const struct device_access_who *who,
	const char *delivered)
{
	mode_t want = strchr(delivered, 'w') ? 06 : 04;

	if (n->uid == who->uid)
		return (n->mode >> 6 & want) == want;
	for (size_t i = 0; i < who->n_groups; i++)
		if (who->groups[i] == n->gid)
			return (n->mode >> 3 & want) == want;
	return (n->mode & want) == want;
}
