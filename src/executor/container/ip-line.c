#include "executor/container/ip-line.h"

#include <string.h>

#include "base/mem.h"

void ip_step_done(struct ip_step *s)
{
	strv_done(&s->words);
}

/* A list of steps is walked to the one that is wanted. */
struct walk {
	unsigned left;
	bool found;
	struct ip_step *step;
};

#define STEP(w, in, name, ...) \
	do { \
		if (!(w)->found && (w)->left-- == 0) { \
			(w)->found = true; \
			(w)->step->what = (name); \
			(w)->step->inside = (in); \
			STRV_ADD(&(w)->step->words, __VA_ARGS__); \
		} \
	} while (0)

bool ip_line_give(const struct plan_interface *i, pid_t pid, unsigned n, struct ip_step *ret)
{
	struct walk walk = {.left = n, .step = ret}, *w = &walk;
	auto_free char *process = mem_printf("%d", (int)pid);
	auto_free char *mtu = mem_printf("%lld", (long long)i->mtu);
	bool six = strchr(i->address, ':') != NULL;

	STEP(w, false, "down", "link", "set", "dev", i->source, "down");
	if (strcmp(i->source, i->target) == 0)
		STEP(w, false, "move", "link", "set", "dev", i->source, "netns", process);
	else
		STEP(w, false, "move", "link", "set", "dev", i->source, "netns", process, "name",
			i->target);
	if (i->mtu > 0)
		STEP(w, true, "mtu", "link", "set", "dev", i->target, "mtu", mtu);
	/* Usable at once: nobody else has an address that was given to this sandbox. */
	if (i->address[0] && six)
		STEP(w, true, "address", "address", "add", i->address, "dev", i->target, "nodad");
	else if (i->address[0])
		STEP(w, true, "address", "address", "add", i->address, "dev", i->target);
	STEP(w, true, "up", "link", "set", "dev", i->target, "up");
	if (i->gateway[0])
		STEP(w, true, "route", "route", "replace", "default", "via", i->gateway, "dev",
			i->target);
	return walk.found;
}

bool ip_line_take(const struct ip_return *r, unsigned n, struct ip_step *ret)
{
	struct walk walk = {.left = n, .step = ret}, *w = &walk;
	auto_free char *process = mem_printf("%d", (int)r->pid);

	STEP(w, true, "flush", "address", "flush", "dev", r->now);
	STEP(w, true, "down", "link", "set", "dev", r->now, "down");
	STEP(w, true, "move", "link", "set", "dev", r->now, "netns", process, "name", r->way);
	return walk.found;
}

bool ip_line_restore(const struct ip_return *r, unsigned n, struct ip_step *ret)
{
	struct walk walk = {.left = n, .step = ret}, *w = &walk;
	auto_free char *mtu = mem_printf("%lu", r->mtu);

	if (strcmp(r->now, r->name) != 0) {
		STEP(w, false, "down", "link", "set", "dev", r->now, "down");
		STEP(w, false, "rename", "link", "set", "dev", r->now, "name", r->name);
	}
	STEP(w, false, "mtu", "link", "set", "dev", r->name, "mtu", mtu);
	if (r->up)
		STEP(w, false, "up", "link", "set", "dev", r->name, "up");
	return walk.found;
}
