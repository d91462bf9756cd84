#include "executor/container/network/network-lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/network-name.h"
#include "sys/file.h"

enum { NAME_SIZE = NETWORK_TABLE_SIZE + 16 };

static const char *name_of(const char *table, const char *end, char out[NAME_SIZE])
{
	snprintf(out, NAME_SIZE, "net-%s.%s", table, end);
	return out;
}

int network_lock_open(int sockets, const char *table, struct error *err)
{
	char name[NAME_SIZE];
	int fd = openat(sockets, name_of(table, "lock", name),
		O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	return fd < 0 ? error_set_errno(err, ERROR_HOME_UNUSABLE, errno, "opening %s", name) : fd;
}

int network_lock_alone(int sockets, const char *table, struct error *err)
{
	auto_fd int fd = network_lock_open(sockets, table, err);

	if (fd < 0 || network_lock_try(fd, NETWORK_LOCK_USERS, true, err) != 0 ||
		network_lock_try(fd, NETWORK_LOCK_TABLE, true, err) != 0)
		return -1;
	return TAKE_FD(fd);
}

void network_lock_sweep(int sockets, const char *table, bool note)
{
	auto_error struct error err = ERROR_INIT;
	char name[NAME_SIZE];

	if (faccessat(sockets, name_of(table, "lock", name), F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	auto_fd int fd = network_lock_alone(sockets, table, &err);
	bool noted = faccessat(sockets, name_of(table, "fp", name), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	if (fd >= 0 && (note || !noted))
		network_lock_remove(sockets, table);
}

static int set(int fd, enum network_lock_part part, short type)
{
	struct flock l = {.l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)part, .l_len = 1};

	return fcntl(fd, F_OFD_SETLK, &l);
}

int network_lock_try(int fd, enum network_lock_part part, bool exclusive, struct error *err)
{
	struct stat st;

	if (set(fd, part, exclusive ? F_WRLCK : F_RDLCK) < 0)
		return errno == EAGAIN || errno == EACCES
			       ? 1
			       : error_set_errno(err, ERROR_IO, errno, "locking a shared network");
	/* A lock that lost its name excludes nobody who comes later. */
	if (fstat(fd, &st) < 0 || st.st_nlink > 0)
		return 0;
	network_lock_drop(fd, part);
	return 2;
}

void network_lock_drop(int fd, enum network_lock_part part)
{
	(void)set(fd, part, F_UNLCK);
}

void network_lock_remove(int sockets, const char *table)
{
	char name[NAME_SIZE];

	unlinkat(sockets, name_of(table, "fp", name), 0);
	unlinkat(sockets, name_of(table, "lock", name), 0);
}

int network_lock_write_note(
	int sockets, const char *table, const char *fingerprint, struct error *err)
{
	char name[NAME_SIZE];

	return file_replace_at(
		sockets, name_of(table, "fp", name), 0600, text_of(fingerprint), false, err);
}

bool network_lock_read_note(int sockets, const char *table, char out[NETWORK_LOCK_NOTE_SIZE])
{
	char name[NAME_SIZE];
	AUTO(str) text = STR_INIT(2 * NETWORK_LOCK_NOTE_SIZE);

	if (file_read_at(sockets, name_of(table, "fp", name), NETWORK_LOCK_NOTE_SIZE, &text) < 0 ||
		text.len != NETWORK_LOCK_NOTE_SIZE - 1)
		return false;
	memcpy(out, str_text(&text), NETWORK_LOCK_NOTE_SIZE);
	return true;
}
