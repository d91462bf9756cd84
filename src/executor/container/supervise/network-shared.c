#include "executor/container/supervise/network-shared.h"

#include <net/if.h>
#include <string.h>

#include "base/mem.h"
#include "executor/container/supervise/supervisor.h"
#include "sys/clock.h"

int network_shared_lock(
	struct supervisor *s, enum network_lock_part part, bool exclusive, struct error *err)
{
	const char *table = s->plan.network.table_name;

	for (;;) {
		if (s->network.lock_fd < 0)
			s->network.lock_fd = network_lock_open(s->home.sockets_fd, table, err);
		if (s->network.lock_fd < 0)
			return -1;
		int r = network_lock_try(s->network.lock_fd, part, exclusive, err);
		if (r != 2)
			return r;
		close(s->network.lock_fd);
		s->network.lock_fd = -1;
	}
}

void network_shared_unlock(struct supervisor *s, enum network_lock_part part)
{
	if (s->network.lock_fd >= 0)
		network_lock_drop(s->network.lock_fd, part);
}

/*
 * What another run of this network wrote of it; *ret NULL: it is on no network, on another, or
 * ended. -1: that cannot be told now.
 */
static int note_of(const struct supervisor *s, const char *handle, json_t **ret, struct error *err)
{
	auto_error struct error why = ERROR_INIT;
	AUTO(rundir) run = RUNDIR_INIT;

	*ret = NULL;
	int gone =
		strcmp(handle, s->run.handle) == 0 ? 1 : rundir_look(&s->home, handle, &run, err);
	if (gone != 0)
		return gone < 0 ? -1 : 0;
	auto_json *note = rundir_read(&run, NETWORK_FILE, &why);
	if (!text_is(json_get_text(note, "name"), s->plan.network.name))
		return 0;
	auto_json *record = rundir_read(&run, RECORD_FILE, &why);
	if (record && !record_final(record))
		*ret = TAKE_PTR(note);
	return 0;
}

int network_shared_proxies(struct supervisor *s, struct strv *ret, struct error *err)
{
	AUTO(strv) handles = STRV_INIT(RUNDIR_RUNS_MAX);

	if (rundir_handles(&s->home, &handles, err) < 0)
		return -1;
	strv_foreach (handle, &handles) {
		auto_json *note = NULL;
		if (note_of(s, *handle, &note, err) < 0)
			return -1;
		const char *proxy = json_get_string(note, "proxy");
		if (proxy && strv_add(ret, proxy) < 0)
			return error_set(err, ERROR_EGRESS_TOO_MANY, "too many proxies");
	}
	return 0;
}

/*
 * The engine removes a bridge when nobody is on it, and no index is given twice in a boot: while
 * the interface is the one that the other run joined, its network is the one it was told of.
 */
static bool holds(const struct supervisor *s, const json_t *note)
{
	const char *bridge = json_get_string(note, "bridge");
	int64_t index = json_get_int(note, "ifindex", 0);

	return bridge && index > 0 && (int64_t)if_nametoindex(bridge) == index &&
	       !json_get_bool(note, "lost", true) &&
	       text_is(json_get_text(note, "boot_id"), clock_boot_id()) &&
	       text_is(json_get_text(note, "engine"), engine_text(s->plan.runtime.engine));
}

bool network_shared_known(const struct supervisor *s, struct engine_network *ret)
{
	auto_error struct error why = ERROR_INIT;
	AUTO(strv) handles = STRV_INIT(RUNDIR_RUNS_MAX);

	if (rundir_handles(&s->home, &handles, &why) < 0)
		return false;
	strv_foreach (handle, &handles) {
		auto_json *note = NULL;
		if (note_of(s, *handle, &note, &why) < 0 || !holds(s, note))
			continue;
		mem_set_string(&ret->bridge, json_get_string(note, "bridge"));
		mem_set_string(&ret->gateway, json_get_string(note, "gateway"));
		ret->bits = (unsigned)json_get_int(note, "bits", 0);
		ret->internal = s->plan.network.kind == NETWORK_PLAN_INTERNAL;
		return true;
	}
	return false;
}

bool network_shared_applied(
	const struct supervisor *s, const char *script, char fingerprint[SHA256_HEX_SIZE])
{
	auto_error struct error why = ERROR_INIT;
	AUTO(strv) handles = STRV_INIT(RUNDIR_RUNS_MAX);

	if (!network_lock_read_note(s->home.sockets_fd, s->plan.network.table_name, fingerprint) ||
		rundir_handles(&s->home, &handles, &why) < 0)
		return false;
	strv_foreach (handle, &handles) {
		auto_json *note = NULL;
		if (note_of(s, *handle, &note, &why) == 0 && holds(s, note) &&
			text_is(json_get_text(note, "script"), script) &&
			text_is(json_get_text(note, "fingerprint"), fingerprint))
			return true;
	}
	return false;
}

int network_shared_expected(struct supervisor *s, const char *fingerprint)
{
	auto_error struct error err = ERROR_INIT;
	char noted[NETWORK_LOCK_NOTE_SIZE];

	int r = network_shared_lock(s, NETWORK_LOCK_TABLE, false, &err);
	if (r != 0)
		return r;
	bool known = network_lock_read_note(s->home.sockets_fd, s->plan.network.table_name, noted);
	network_shared_unlock(s, NETWORK_LOCK_TABLE);
	if (!known || strcmp(noted, fingerprint) != 0)
		return -1;
	memcpy(s->network.fingerprint, noted, sizeof(noted));
	s->network.script[0] = '\0'; /* of other rules */
	return 0;
}
