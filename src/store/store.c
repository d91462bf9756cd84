/*
 * Opening is a read of the header in the usual case. Only a file that is new or behind is set up,
 * under a lock file: turning WAL on is the one step at which SQLite does not wait for others, and
 * the version is read again once the lock is held. A crash in between leaves a file at an older
 * version, which the next opener brings on; SQLite's journal takes care of half a step.
 *
 * A command opens and closes the file several times, and is usually alone with it. Folding the log
 * into the file at each close would cost it four syncs and the next one a new log, so that is done
 * when the log has 100 pages: an opener reads no more than those.
 *
 * Each statement of a look sees the file as it is by then. Our tables, our id and the version
 * arrive in one commit, so a version is never older than the id that is read after it; but tables
 * that are read after "no version" may be another opener's. Those are looked at under the lock.
 */
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/mem.h"
#include "store/migrations.h"
#include "store/query.h"
#include "store/witness.h"
#include "sys/clock.h"
#include "sys/fault.h"
#include "sys/lockfile.h"
#include "sys/log.h"

#define SETUP_LOCK "state-setup-0"

enum {
	BUSY_TIMEOUT_MS = 5000,
	SETUP_TIMEOUT_MS = 30000,
	LOG_KEPT_MAX = 90 * 4120,    /* bytes: somewhat below wal_autocheckpoint */
	APPLICATION_ID = 0x636c6f70, /* "clop": tells our file from another database */
};

struct store {
	sqlite3 *db;
	char *home;
	char *path;
	struct witness pending; /* seq 0: none */
};

/*
 * A log that outlives its process is read anew as if nothing of it were in the file. Beyond the
 * pages of wal_autocheckpoint every commit of the next ones would fold it in again, with three
 * syncs, so the last one to write takes it away.
 */
static bool log_is_long(const struct store *s)
{
	auto_free char *log = mem_printf("%s-wal", s->path);
	struct stat st;

	return sqlite3_total_changes64(s->db) > 0 && stat(log, &st) == 0 &&
	       st.st_size > LOG_KEPT_MAX;
}

void store_free(struct store *s)
{
	if (!s)
		return;
	if (s->db && log_is_long(s))
		sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
	sqlite3_close(s->db);
	free(s->home);
	free(s->path);
	free(s);
}

sqlite3 *store_db(struct store *s)
{
	return s->db;
}

const char *store_path(const struct store *s)
{
	return s->path;
}

const char *store_home(const struct store *s)
{
	return s->home;
}

void store_witness_later(struct store *s, const struct witness *w)
{
	s->pending = *w;
}

void store_committed(struct store *s)
{
	if (s->pending.seq > 0)
		witness_write(s->home, &s->pending);
	s->pending.seq = 0;
}

void store_rolled_back(struct store *s)
{
	s->pending.seq = 0;
}

/* SQLite has several words for it: the log, its index or a journal could not grow. */
static bool disk_full(const struct store *s)
{
	struct statvfs st;

	return statvfs(s->home, &st) == 0 && st.f_bavail == 0;
}

static enum error_code code_of(const struct store *s, int rc)
{
	switch (rc & 0xff) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
	case SQLITE_PROTOCOL:
		return ERROR_STORE_BUSY;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return ERROR_STORE_CORRUPT;
	case SQLITE_FULL:
		return ERROR_NO_SPACE;
	case SQLITE_IOERR:
	case SQLITE_CANTOPEN:
		return disk_full(s) ? ERROR_NO_SPACE : ERROR_STORE_FAILED;
	default:
		return ERROR_STORE_FAILED;
	}
}

static int set_remedy(const struct store *s, struct error *err)
{
	if (error_is(err, ERROR_STORE_CORRUPT))
		return error_set_remedy(err,
			"nothing was changed; copy %s with its -wal and -shm, try `sqlite3 COPY "
			".recover`, or move all three away: cloop then begins with an empty one",
			quoted_string(s->path));
	if (error_is(err, ERROR_NO_SPACE))
		return error_set_remedy(
			err, "free space on the file system that holds %s", quoted_string(s->path));
	return -1;
}

/* The first words of a statement say enough. */
static int shown(const char *sql)
{
	return (int)strcspn(sql, "(;?");
}

int store_error(const struct store *s, int rc, const char *what, struct error *err)
{
	error_set(err, code_of(s, rc), "%s: %.*s: %s", quoted_string(s->path), shown(what), what,
		sqlite3_extended_errcode(s->db) == rc ? sqlite3_errmsg(s->db) : sqlite3_errstr(rc));
	return set_remedy(s, err);
}

static int read_number(struct store *s, const char *pragma, int64_t *ret, struct error *err)
{
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s, pragma, &q, err) < 0 || query_step(&q, err) < 0)
		return -1;
	*ret = query_int(&q, 0);
	return 0;
}

static int refuse_content(const struct store *s, const char *why, struct error *err)
{
	error_set(err, ERROR_STORE_CORRUPT, "%s %s", quoted_string(s->path), why);
	return set_remedy(s, err);
}

static int refuse_foreign(const struct store *s, struct error *err)
{
	return refuse_content(s, "is not a database of cloop", err);
}

/* Steps done; a file that is new has none, and one of somebody else may have none. */
static int read_version(struct store *s, size_t *ret, struct error *err)
{
	int64_t version, id;

	if (read_number(s, "PRAGMA user_version", &version, err) < 0 ||
		read_number(s, "PRAGMA application_id", &id, err) < 0)
		return -1;
	if (version < 0 || (version > 0 && id != APPLICATION_ID))
		return refuse_foreign(s, err);
	if ((uint64_t)version > migrations_count)
		return error_set(err, ERROR_STORE_NEWER,
			"%s was written by a newer cloop (version %lld, this one knows %zu)",
			quoted_string(s->path), (long long)version, migrations_count);
	*ret = (size_t)version;
	return 0;
}

static int judge_empty(struct store *s, struct error *err)
{
	int64_t objects;

	if (read_number(s, "SELECT count(*) FROM sqlite_schema", &objects, err) < 0)
		return -1;
	return objects > 0 ? refuse_foreign(s, err) : 0;
}

static int apply(struct store *s, size_t version, struct error *err)
{
	AUTO(query_transaction) t = QUERY_TRANSACTION_INIT;
	auto_free char *numbers =
		mem_printf("PRAGMA application_id = %d; PRAGMA user_version = %zu", APPLICATION_ID,
			migrations_count);

	if (query_begin(s, &t, err) < 0)
		return -1;
	for (; version < migrations_count; version++)
		if (query_exec(s, migrations[version], err) < 0)
			return -1;
	return query_exec(s, numbers, err) < 0 ? -1 : query_commit(&t, err);
}

/*
 * Which file was set up, for the file of the lock: a database that lost all its bytes is told from
 * one that is new. "" where the file system keeps no time of birth.
 */
static void describe_file(const struct store *s, char out[64])
{
	struct statx st;

	out[0] = '\0';
	if (statx(AT_FDCWD, s->path, AT_SYMLINK_NOFOLLOW, STATX_INO | STATX_BTIME, &st) == 0 &&
		(st.stx_mask & STATX_BTIME))
		snprintf(out, 64, "%llu %lld.%u\n", (unsigned long long)st.stx_ino,
			(long long)st.stx_btime.tv_sec, (unsigned)st.stx_btime.tv_nsec);
}

static bool was_set_up(const struct store *s, int lock)
{
	char now[64], then[64] = "";

	describe_file(s, now);
	return pread(lock, then, sizeof(then) - 1, 0) > 0 && now[0] && strcmp(now, then) == 0;
}

static void note_set_up(const struct store *s, int lock)
{
	char now[64];

	describe_file(s, now);
	if (ftruncate(lock, 0) < 0 || pwrite(lock, now, strlen(now), 0) < 0)
		log_warning("the lock of %s could not be written", quoted_string(s->path));
}

/* Of a file without a version, with the lock held. */
static int begin(struct store *s, int lock, struct error *err)
{
	if (was_set_up(s, lock))
		return refuse_content(s, "is empty, and was not", err);
	return judge_empty(s, err);
}

static int set_up(struct store *s, struct error *err)
{
	size_t version = 0;

	auto_fd int home = open(s->home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (home < 0)
		return error_set_errno(
			err, ERROR_STORE_FAILED, errno, "opening %s", quoted_string(s->home));
	auto_fd int lock = -1;
	int r = lockfile_wait(
		home, SETUP_LOCK, clock_boottime_ms() + SETUP_TIMEOUT_MS, -1, &lock, err);
	if (r > 0)
		return error_set(err, ERROR_STORE_BUSY, "%s is being set up by another process",
			quoted_string(s->path));
	if (r < 0 || read_version(s, &version, err) < 0)
		return -1;
	if (version == migrations_count)
		return 0;
	if ((version == 0 && begin(s, lock, err) < 0) ||
		query_exec(s, "PRAGMA journal_mode = WAL", err) < 0 || apply(s, version, err) < 0)
		return -1;
	note_set_up(s, lock);
	store_fold_log(s);
	return 0;
}

static int configure(struct store *s, struct error *err)
{
	static const int on[] = {SQLITE_DBCONFIG_DEFENSIVE, SQLITE_DBCONFIG_ENABLE_FKEY,
		SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE};

	sqlite3_extended_result_codes(s->db, 1);
	sqlite3_busy_timeout(s->db, BUSY_TIMEOUT_MS);
	for (size_t i = 0; i < ARRAY_SIZE(on); i++)
		sqlite3_db_config(s->db, on[i], 1, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	/* The first to read the file: what is wrong with it is not this statement's. */
	int rc = sqlite3_exec(s->db, "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 100",
		NULL, NULL, NULL);
	return rc == SQLITE_OK ? 0 : store_error(s, rc, "opening", err);
}

static int refuse_file(const struct store *s, const char *why, struct error *err)
{
	error_set(err, ERROR_STORE_FAILED, "%s %s", quoted_string(s->path), why);
	return error_set_remedy(err, "it must be a regular file of the user that runs cloop, "
				     "not writable by others: chown and chmod 0600");
}

/* SQLite would remove the log of a database without a byte, and with it what can be saved. */
static int judge_log(const struct store *s, struct error *err)
{
	auto_free char *log = mem_printf("%s-wal", s->path);
	struct stat st;

	return lstat(log, &st) == 0 && st.st_size > 0
		       ? refuse_content(s, "is empty, and its -wal is not", err)
		       : 0;
}

/*
 * 0, or 1 = there is none. An existing file is never opened here: closing any descriptor of it
 * would drop the locks that SQLite holds on it elsewhere in this process.
 */
static int judge_file(const struct store *s, struct error *err)
{
	struct stat st;

	if (lstat(s->path, &st) < 0)
		return errno == ENOENT ? 1
				       : error_set_errno(err, ERROR_STORE_FAILED, errno,
						 "looking at %s", quoted_string(s->path));
	if (!S_ISREG(st.st_mode))
		return refuse_file(s, "is no regular file", err);
	if (st.st_uid != geteuid() || (st.st_mode & 022))
		return refuse_file(
			s, "does not belong to this user, or may be written by others", err);
	if ((st.st_mode & 0777) != 0600 && chmod(s->path, 0600) < 0)
		return refuse_file(s, "cannot be made private", err);
	return st.st_size == 0 ? judge_log(s, err) : 0;
}

static int make_file(const struct store *s, struct error *err)
{
	int fd = open(s->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0 && errno != EEXIST) {
		int code = errno == ENOSPC ? ERROR_NO_SPACE : ERROR_STORE_FAILED;
		error_set_errno(err, code, errno, "making %s", quoted_string(s->path));
		return set_remedy(s, err);
	}
	if (fd >= 0)
		close(fd);
	return judge_file(s, err);
}

static int open_database(struct store *s, struct error *err)
{
	enum {
		FLAGS = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW |
			SQLITE_OPEN_PRIVATECACHE
	};
	size_t version = 0;

	int rc = fault_hit("store-open") ? SQLITE_IOERR
					 : sqlite3_open_v2(s->path, &s->db, FLAGS, NULL);
	if (rc != SQLITE_OK)
		return store_error(s, rc, "opening", err);
	if (configure(s, err) < 0 || read_version(s, &version, err) < 0)
		return -1;
	return version < migrations_count ? set_up(s, err) : 0;
}

static int open_store(const char *home, bool make, struct store **ret, struct error *err)
{
	AUTO_PTR(store) s = mem_alloc(sizeof(*s));

	*ret = NULL;
	s->home = mem_strdup(home);
	s->path = mem_printf("%s/state.db", home);
	int r = judge_file(s, err);
	if (r > 0 && make)
		r = make_file(s, err);
	if (r != 0)
		return r;
	if (open_database(s, err) < 0)
		return -1;
	*ret = TAKE_PTR(s);
	return 0;
}

int store_relax(struct store *s, struct error *err)
{
	return query_exec(s, "PRAGMA synchronous = NORMAL", err);
}

int store_erase(struct store *s, struct error *err)
{
	return query_exec(s, "PRAGMA secure_delete = ON", err);
}

void store_fold_log(struct store *s)
{
	sqlite3_busy_timeout(s->db, 0);
	sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	sqlite3_busy_timeout(s->db, BUSY_TIMEOUT_MS);
}

int store_open(const char *home, struct store **ret, struct error *err)
{
	int r = open_store(home, true, ret, err);

	return r > 0 ? error_set(err, ERROR_STORE_FAILED, "%s/state.db went away", home) : r;
}

int store_open_existing(const char *home, struct store **ret, struct error *err)
{
	return open_store(home, false, ret, err);
}
