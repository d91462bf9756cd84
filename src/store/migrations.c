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
};
const size_t migrations_count = ARRAY_SIZE(migrations);
