#include "executor/container/supervise/network-shared.h"

#include <string.h>

#include "executor/container/supervise/supervisor.h"

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

/* Its proxy, if it is on our network and not at its end. */
static int add_proxy(
	const struct supervisor *s, const char *handle, struct strv *ret, struct error *err)
{
	auto_error struct error why = ERROR_INIT;
	AUTO(rundir) run = RUNDIR_INIT;

	if (strcmp(handle, s->run.handle) == 0 || rundir_open(&s->home, handle, &run, &why) < 0)
		return 0;
	auto_json *note = rundir_read(&run, NETWORK_FILE, &why);
	const char *proxy = json_get_string(note, "proxy");
	if (!proxy || !text_is(json_get_text(note, "name"), s->plan.network.name))
		return 0;
	auto_json *record = rundir_read(&run, RECORD_FILE, &why);
	if (!record || record_final(record) || strv_add(ret, proxy) == 0)
		return 0;
	return error_set(err, ERROR_EGRESS_TOO_MANY, "too many proxies");
}

int network_shared_proxies(struct supervisor *s, struct strv *ret, struct error *err)
{
	AUTO(strv) handles = STRV_INIT(RUNDIR_RUNS_MAX);

	if (rundir_handles(&s->home, &handles, err) < 0)
		return -1;
	strv_foreach (handle, &handles)
		if (add_proxy(s, *handle, ret, err) < 0)
			return -1;
	return 0;
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
	return 0;
}
