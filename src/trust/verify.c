/*
 * The order matters: key files are read before the cache is asked, since their contents are a part
 * of its key; the cache before cosign is looked for; and the cache again behind the lock, because
 * whoever held it asked the same question. cosign opens the key files once more by their paths, so
 * a success counts only when they are still what was read.
 */
#include "trust/verify.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "image/cosign-argv.h"
#include "image/cosign-key.h"
#include "image/cosign.h"
#include "image/fingerprint.h"
#include "store/store.h"
#include "store/verified.h"
#include "sys/clock.h"
#include "sys/fault.h"
#include "sys/file.h"
#include "sys/lockfile.h"
#include "sys/log.h"

enum { DEADLINE_MS = 120000, TEST_DEADLINE_MS = 1500, LINES_BYTES = 700, LINE_BYTES_MIN = 60 };

static const char *const details[] = {
	[TRUST_VERIFIED] = "",
	[TRUST_FAILED] = "verification_failed",
	[TRUST_MISSING] = "cosign_missing",
	[TRUST_TIMED_OUT] = "timeout",
	[TRUST_NEVER] = "",
	[TRUST_BAD_KEY] = "",
};
static_assert(ARRAY_SIZE(details) == TRUST_END_COUNT, "a detail for every end");

const char *trust_end_detail(enum trust_end e)
{
	return details[e];
}

void trust_answer_done(struct trust_answer *a)
{
	json_decref(a->attempts);
	a->attempts = NULL;
}

int64_t trust_deadline(void)
{
	return clock_boottime_ms() + (fault_hit("trust:deadline") ? TEST_DEADLINE_MS : DEADLINE_MS);
}

/* One question on its way to an answer. */
struct verification {
	const struct trust_question *q;
	struct trust_answer *answer;
	struct cosign_key keys[POLICY_KEYS_MAX];
	char fingerprint[SHA256_HEX_SIZE];
	char reference[IMAGE_TEXT_MAX + 1];
	struct cosign_attempts attempts;
	struct store *store; /* NULL: nothing is kept */
	int locks;           /* directory */
	char *lock_name;
	int lock; /* held */
};

/* Whoever holds the lock removes its file: others look again. */
static void verification_done(struct verification *v)
{
	cosign_attempts_done(&v->attempts);
	store_free(v->store);
	if (v->lock >= 0) {
		unlinkat(v->locks, v->lock_name, 0);
		close(v->lock);
	}
	cleanup_fd(&v->locks);
	free(v->lock_name);
}

static int answer(
	struct verification *v, enum trust_end end, const char *reason, const char *remedy)
{
	v->answer->end = end;
	snprintf(v->answer->reason, sizeof(v->answer->reason), "%s", reason);
	snprintf(v->answer->remedy, sizeof(v->answer->remedy), "%s", remedy);
	return 0;
}

static int time_out(struct verification *v)
{
	return answer(v, TRUST_TIMED_OUT, "its signature could not be verified within 2 minutes",
		"look at why cosign is slow: it has to reach the registry, and for what stands in "
		"a transparency log also tuf-repo-cdn.sigstore.dev; then start the run again");
}

static int bad_key(struct verification *v, const struct error *why)
{
	return answer(v, TRUST_BAD_KEY, why->message, error_remedy(why));
}

static int cancelled(struct error *err)
{
	return error_set(
		err, ERROR_START_CANCELLED, "the verification of a signature was cancelled");
}

/* ---- The cache ---- */

static struct verified row_of(const struct verification *v)
{
	return (struct verified){
		.fingerprint = v->fingerprint,
		.reference = v->reference,
		.boot_id = clock_boot_id(),
		.boottime_ms = clock_boottime_ms(),
	};
}

static void open_store(struct verification *v)
{
	auto_error struct error why = ERROR_INIT;

	if (*clock_boot_id() && store_open(v->q->home, &v->store, &why) < 0)
		log_warning("verified signatures are not kept: %s", why.message);
}

static bool is_known(const struct verification *v)
{
	auto_error struct error why = ERROR_INIT;
	struct verified row = row_of(v);
	int r = v->store ? verified_find(v->store, &row, &why) : VERIFIED_UNKNOWN;

	if (r < 0)
		log_warning("verified signatures are not looked up: %s", why.message);
	return r == 0;
}

static void keep(const struct verification *v)
{
	auto_error struct error why = ERROR_INIT;
	struct verified row = row_of(v);

	if (v->store && verified_add(v->store, &row, &why) < 0)
		log_warning("a verified signature is not kept: %s", why.message);
}

/* ---- Success ---- */

static bool keys_are_as_read(struct verification *v)
{
	const struct strv *paths = &v->q->policy->cosign_public_keys.items;

	for (size_t i = 0; i < paths->n; i++) {
		auto_error struct error why = ERROR_INIT;
		if (cosign_key_look_again(paths->v[i], &v->keys[i], &why) < 0) {
			bad_key(v, &why);
			return false;
		}
	}
	return true;
}

static int answer_verified(struct verification *v)
{
	return keys_are_as_read(v) ? answer(v, TRUST_VERIFIED, "", "") : 0;
}

static int answer_fresh(struct verification *v)
{
	if (!keys_are_as_read(v))
		return 0;
	keep(v);
	return answer(v, TRUST_VERIFIED, "", "");
}

/* ---- One at a time ---- */

static int open_locks(struct verification *v, struct error *err)
{
	auto_free char *both = mem_printf("%s\n%s", v->fingerprint, v->reference);
	char name[SHA256_HEX_SIZE];

	sha256_hex(text_of(both), name);
	v->lock_name = mem_printf(TRUST_LOCK_PREFIX "%s", name);
	v->locks = file_open_folder(v->q->home, "locks", true, err);
	return v->locks < 0 ? -1 : 0;
}

/* 0: the lock is held, or the answer is given without it (*ret_answered). */
static int wait_for_turn(struct verification *v, bool *ret_answered, struct error *err)
{
	if (open_locks(v, err) < 0)
		return -1;
	int r = lockfile_wait(
		v->locks, v->lock_name, v->q->deadline_ms, v->q->cancel_fd, &v->lock, err);
	*ret_answered = r == 1;
	if (r == 2)
		return cancelled(err);
	return r == 1 ? time_out(v) : r;
}

/* ---- cosign ---- */

/* What an attempt was made with, for people. */
static json_t *describe(const struct strv *argv)
{
	if (strcmp(argv->v[2], "--key") == 0)
		return json_sprintf("key %s", argv->v[3]);
	return json_sprintf("identity %s of %s", argv->v[5], argv->v[3]);
}

static void remember(struct verification *v, const struct strv *argv, const char *line)
{
	if (!v->answer->attempts)
		v->answer->attempts = json_array();
	json_array_append_new(
		v->answer->attempts, json_pack("{s:o, s:o}", "with", describe(argv), "output",
					     json_from_bytes(text_of(line))));
}

/* As much of every attempt's last line as one message can hold. */
static void list_attempts(const json_t *attempts, struct str *out)
{
	size_t n = json_array_size(attempts), room = n ? LINES_BYTES / n : 0, i;
	json_t *attempt;

	room = room < LINE_BYTES_MIN ? LINE_BYTES_MIN : room;
	json_array_foreach(attempts, i, attempt)
	{
		struct text with = json_get_text(attempt, "with");
		struct text line = json_get_text(attempt, "output");
		str_add_text(out, "; with ");
		text_escape(out, with, room);
		str_addf(out, ": %.*s", (int)utf8_cut(line, room), line.p);
	}
}

static int answer_failed(struct verification *v, const struct cosign *c)
{
	AUTO(str) words = STR_INIT(ERROR_TEXT_MAX);
	AUTO(str) remedy = STR_INIT(ERROR_TEXT_MAX);
	char version[COSIGN_VERSION_MAX];

	str_add_text(&words, "cosign verifies no signature of it");
	list_attempts(v->answer->attempts, &words);
	str_add_text(&remedy, "use an image that is signed for one of the operator's keys or "
			      "identities, or have this one signed");
	cosign_version(c, version);
	if (cosign_version_is_old(version))
		str_addf(&remedy,
			"; the cosign of this host is %s, which does not find what cosign 3 has "
			"signed: install version 3",
			version);
	return answer(v, TRUST_FAILED, str_text(&words), str_text(&remedy));
}

static int attempt_all(struct verification *v, const struct cosign *c, struct error *err)
{
	char line[COSIGN_LINE_MAX + 1];

	for (size_t i = 0; i < v->attempts.n; i++) {
		const struct strv *argv = &v->attempts.argv[i];
		switch (cosign_call(c, argv, line)) {
		case COSIGN_SUCCEEDED:
			return answer_fresh(v);
		case COSIGN_FAILED:
			remember(v, argv, line);
			break;
		case COSIGN_TIMED_OUT:
			return time_out(v);
		case COSIGN_CANCELLED:
			return cancelled(err);
		}
	}
	return answer_failed(v, c);
}

static int ask(struct verification *v, struct error *err)
{
	AUTO(cosign) c = COSIGN_INIT;
	struct cosign_setup setup = {
		.home = v->q->home,
		.image = v->q->image,
		.deadline_ms = v->q->deadline_ms,
		.cancel_fd = v->q->cancel_fd,
	};
	int r = cosign_open(&setup, &c, err);

	if (r < 0)
		return -1;
	if (r == COSIGN_MISSING)
		return answer(v, TRUST_MISSING,
			"its signature has to be verified, and there is no program cosign on PATH",
			"install cosign on this host: https://docs.sigstore.dev");
	return attempt_all(v, &c, err);
}

/* ---- The question ---- */

/* False: a key cannot be used, and that is the answer. */
static bool take_fingerprint(struct verification *v)
{
	char hashes[POLICY_KEYS_MAX][SHA256_HEX_SIZE];
	const struct strv *paths = &v->q->policy->cosign_public_keys.items;

	for (size_t i = 0; i < paths->n; i++) {
		auto_error struct error why = ERROR_INIT;
		if (cosign_key_read(paths->v[i], &v->keys[i], &why) < 0) {
			bad_key(v, &why);
			return false;
		}
		memcpy(hashes[i], v->keys[i].hash, sizeof(hashes[i]));
	}
	fingerprint_policy(v->q->policy, hashes, v->fingerprint);
	return true;
}

/* False: no signature can be of this image, and that is the answer. */
static bool take_attempts(struct verification *v)
{
	auto_error struct error why = ERROR_INIT;

	if (cosign_argv_build(v->q->policy, v->q->image, &v->attempts, &why) == 0)
		return true;
	answer(v, TRUST_NEVER, why.message,
		"push the image to a registry, sign it there, and pull it again");
	return false;
}

int trust_verify(const struct trust_question *q, struct trust_answer *ret, struct error *err)
{
	__attribute__((cleanup(verification_done))) struct verification v = {
		.q = q, .answer = ret, .locks = -1, .lock = -1};
	bool answered;

	*ret = (struct trust_answer){.attempts = NULL};
	cosign_logins_sweep();
	if (!take_fingerprint(&v) || !take_attempts(&v))
		return 0;
	image_reference_canonical(q->image, v.reference);
	open_store(&v);
	if (is_known(&v))
		return answer_verified(&v);
	if (wait_for_turn(&v, &answered, err) < 0)
		return -1;
	if (answered)
		return 0;
	return is_known(&v) ? answer_verified(&v) : ask(&v, err);
}
