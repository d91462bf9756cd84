/*
 * SQLite's file layer, broken on demand: the n-th read, write, sync or opening of a file of a
 * database fails, once or from then on. broken_vfs_register() makes it the one that is used.
 */
#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <string.h>

enum broken_call { BROKEN_OPEN, BROKEN_READ, BROKEN_WRITE, BROKEN_SYNC, BROKEN_CALLS };

static struct {
	bool armed, on; /* on: every call from the n-th on */
	enum broken_call call;
	int n, met;
	int code; /* what it fails with */
} broken;

static inline void broken_arm(enum broken_call call, int n, bool on, int code)
{
	broken.armed = true;
	broken.on = on;
	broken.call = call;
	broken.n = n;
	broken.met = 0;
	broken.code = code;
}

/* True: it was met. */
static inline bool broken_disarm(void)
{
	broken.armed = false;
	return broken.met >= broken.n;
}

static inline bool broken_fails(enum broken_call call)
{
	if (!broken.armed || broken.call != call)
		return false;
	broken.met++;
	return broken.on ? broken.met >= broken.n : broken.met == broken.n;
}

struct broken_file {
	sqlite3_file base;
	sqlite3_file *real; /* behind this struct */
};

#define REAL(f) (((struct broken_file *)(f))->real)
#define PASS(f, method, ...) REAL(f)->pMethods->method(REAL(f), ##__VA_ARGS__)

static int broken_close(sqlite3_file *f)
{
	return PASS(f, xClose);
}
static int broken_read(sqlite3_file *f, void *p, int n, sqlite3_int64 at)
{
	return broken_fails(BROKEN_READ) ? broken.code : PASS(f, xRead, p, n, at);
}
static int broken_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at)
{
	return broken_fails(BROKEN_WRITE) ? broken.code : PASS(f, xWrite, p, n, at);
}
static int broken_truncate(sqlite3_file *f, sqlite3_int64 size)
{
	return broken_fails(BROKEN_WRITE) ? SQLITE_IOERR_TRUNCATE : PASS(f, xTruncate, size);
}
static int broken_sync(sqlite3_file *f, int flags)
{
	return broken_fails(BROKEN_SYNC) ? broken.code : PASS(f, xSync, flags);
}
static int broken_size(sqlite3_file *f, sqlite3_int64 *size)
{
	return PASS(f, xFileSize, size);
}
static int broken_lock(sqlite3_file *f, int level)
{
	return PASS(f, xLock, level);
}
static int broken_unlock(sqlite3_file *f, int level)
{
	return PASS(f, xUnlock, level);
}
static int broken_reserved(sqlite3_file *f, int *ret)
{
	return PASS(f, xCheckReservedLock, ret);
}
static int broken_control(sqlite3_file *f, int op, void *arg)
{
	return PASS(f, xFileControl, op, arg);
}
static int broken_sector(sqlite3_file *f)
{
	return PASS(f, xSectorSize);
}
static int broken_device(sqlite3_file *f)
{
	return PASS(f, xDeviceCharacteristics);
}
static int broken_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **p)
{
	return PASS(f, xShmMap, page, size, extend, p);
}
static int broken_shm_lock(sqlite3_file *f, int offset, int n, int flags)
{
	return PASS(f, xShmLock, offset, n, flags);
}
static void broken_shm_barrier(sqlite3_file *f)
{
	PASS(f, xShmBarrier);
}
static int broken_shm_unmap(sqlite3_file *f, int drop)
{
	return PASS(f, xShmUnmap, drop);
}

static const sqlite3_io_methods broken_methods = {.iVersion = 2,
	.xClose = broken_close,
	.xRead = broken_read,
	.xWrite = broken_write,
	.xTruncate = broken_truncate,
	.xSync = broken_sync,
	.xFileSize = broken_size,
	.xLock = broken_lock,
	.xUnlock = broken_unlock,
	.xCheckReservedLock = broken_reserved,
	.xFileControl = broken_control,
	.xSectorSize = broken_sector,
	.xDeviceCharacteristics = broken_device,
	.xShmMap = broken_shm_map,
	.xShmLock = broken_shm_lock,
	.xShmBarrier = broken_shm_barrier,
	.xShmUnmap = broken_shm_unmap};

static sqlite3_vfs *broken_real;
static sqlite3_vfs broken_vfs;

static int broken_open(
	sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *f, int flags, int *ret_flags)
{
	struct broken_file *file = (struct broken_file *)f;

	(void)vfs;
	file->base.pMethods = NULL;
	if (broken_fails(BROKEN_OPEN))
		return broken.code;
	file->real = (sqlite3_file *)(file + 1);
	memset(file->real, 0, (size_t)broken_real->szOsFile);
	int rc = broken_real->xOpen(broken_real, name, file->real, flags, ret_flags);
	if (file->real->pMethods)
		file->base.pMethods = &broken_methods;
	return rc;
}

static inline void broken_vfs_register(void)
{
	broken_real = sqlite3_vfs_find(NULL);
	broken_vfs = *broken_real;
	broken_vfs.zName = "broken";
	broken_vfs.pNext = NULL;
	broken_vfs.szOsFile = (int)sizeof(struct broken_file) + broken_real->szOsFile;
	broken_vfs.xOpen = broken_open;
	sqlite3_vfs_register(&broken_vfs, 1);
}
