#include "vault/device-node.h"

#include <string.h>

/* Character devices that give control over the host: a major and a range of minors. */
static const struct range {
	unsigned major, first, last;
} forbidden[] = {
	{1, 0, 2},
	{1, 4, 4},
	{1, 6, 6},
	{1, 10, ~0u}, /* memory, but null zero full random */
	{4, 0, 63},
	{5, 1, 2},
	{7, 0, ~0u},
	{136, 0, ~0u}, /* consoles, screens, terminals */
	{137, 0, ~0u},
	{138, 0, ~0u},
	{139, 0, ~0u},
	{140, 0, ~0u},
	{141, 0, ~0u},
	{142, 0, ~0u},
	{143, 0, ~0u},
	{202, 0, ~0u},
	{203, 0, ~0u}, /* … msr, cpuid */
	{10, 144, 144},
	{10, 184, 184},
	{10, 223, 223},
	{10, 231, 231},
	{10, 234, 234},
	{10, 236, 239},
	{10, 241, 241},
};

static bool is_forbidden(const struct device_node *n)
{
	for (size_t i = 0; i < ARRAY_SIZE(forbidden); i++)
		if (n->major == forbidden[i].major && n->minor >= forbidden[i].first &&
			n->minor <= forbidden[i].last)
			return true;
	return false;
}

/* A character device that reads and writes a disk. */
static bool is_disk_door(const struct device_node *n)
{
	static const char *const subsystems[] = {"nvme", "nvme-generic", "bsg", "scsi_generic"};

	for (size_t i = 0; i < ARRAY_SIZE(subsystems); i++)
		if (strcmp(n->subsystem, subsystems[i]) == 0)
			return true;
	return n->major == 21;
}

bool device_node_standard(const struct device_node *node, struct text target)
{
	static const struct {
		const char *path;
		unsigned major, minor;
	} nodes[] = {
		{"/dev/null", 1, 3},
		{"/dev/zero", 1, 5},
		{"/dev/full", 1, 7},
		{"/dev/random", 1, 8},
		{"/dev/urandom", 1, 9},
		{"/dev/tty", 5, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(nodes); i++)
		if (text_is(target, nodes[i].path))
			return node->type == DEVICE_CHAR && node->major == nodes[i].major &&
			       node->minor == nodes[i].minor;
	return false;
}

int device_node_judge(
	const struct device_node *node, bool grant_block, const char *path, struct error *err)
{
	if (node->type == DEVICE_OTHER)
		return error_set(err, ERROR_DEVICE_NOT_A_NODE,
			"%s is neither a character nor a block device", quoted_string(path));
	if (node->type == DEVICE_CHAR && is_forbidden(node))
		return error_set(err, ERROR_DEVICE_FORBIDDEN, "%s (%u:%u) is never given",
			quoted_string(path), node->major, node->minor);
	if ((node->type == DEVICE_BLOCK || is_disk_door(node)) && !grant_block)
		return error_set(
			err, ERROR_DEVICE_BLOCK_NOT_GRANTED, "%s is a disk", quoted_string(path));
	if (node->type == DEVICE_BLOCK && node->in_use)
		return error_set(err, ERROR_DEVICE_IN_USE, "%s is in use", quoted_string(path));
	return 0;
}
