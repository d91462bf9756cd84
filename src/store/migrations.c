#include "store/migrations.h"

#include "base/cleanup.h"

const char *const migrations[] = {
	/* 1: what an operator or owner sets for a project (store/project.h) */
	"CREATE TABLE project ("
	"path TEXT PRIMARY KEY, "
	"provider TEXT NOT NULL DEFAULT 'none' "
	"CHECK (provider IN ('none', 'claudecode', 'copilot')), "
	"first_seen TEXT NOT NULL"
	") STRICT, WITHOUT ROWID;",

	/* 2: the audit trail (store/audit.h). seq never comes back, not even after a deletion. */
	"CREATE TABLE audit ("
	"seq INTEGER PRIMARY KEY AUTOINCREMENT, "
	"time TEXT NOT NULL, "
	"action TEXT NOT NULL, "
	"entity TEXT NOT NULL, "
	"actor TEXT NOT NULL, "
	"payload TEXT NOT NULL, "
	"previous TEXT NOT NULL, "
	"hash TEXT NOT NULL UNIQUE"
	") STRICT;",

	/* 3: signatures that were verified (store/verified.h); a higher number is younger. */
	"CREATE TABLE verified ("
	"number INTEGER PRIMARY KEY AUTOINCREMENT, "
	"fingerprint TEXT NOT NULL, "
	"reference TEXT NOT NULL, "
	"boot_id TEXT NOT NULL, "
	"boottime_ms INTEGER NOT NULL, "
	"UNIQUE (fingerprint, reference)"
	") STRICT;",

	/* 4: keys that seal secrets (store/kek.h), and the secrets (store/secret.h). */
	"CREATE TABLE kek ("
	"id TEXT PRIMARY KEY, "
	"source TEXT NOT NULL CHECK (source IN ('passphrase', 'key_file')), "
	"salt BLOB, "
	"opslimit INTEGER NOT NULL, "
	"memlimit INTEGER NOT NULL, "
	"state TEXT NOT NULL CHECK (state IN ('primary', 'active', 'retired')), "
	"sealed_check BLOB NOT NULL, "
	"created_at TEXT NOT NULL"
	") STRICT;"
	"CREATE UNIQUE INDEX kek_primary ON kek (state) WHERE state = 'primary';"
	"CREATE TABLE secret ("
	"id TEXT PRIMARY KEY, "
	"name TEXT NOT NULL UNIQUE, "
	"kind TEXT NOT NULL, "
	"owner TEXT, "
	"env TEXT, "
	"format TEXT CHECK (format IN ('value', 'object')), "
	"file_name TEXT, "
	"file_mode INTEGER NOT NULL DEFAULT 0, "
	"created_at TEXT NOT NULL, "
	"created_by TEXT NOT NULL, "
	"kek TEXT NOT NULL REFERENCES kek (id), "
	"dek BLOB NOT NULL, "
	"payload BLOB NOT NULL"
	") STRICT;"
	"CREATE INDEX secret_kek ON secret (kek);",
};
const size_t migrations_count = ARRAY_SIZE(migrations);
