/*
 * Kind walk of area disk (disk-and-secrets.md §4): the tree of the case is made in an empty
 * directory below /tmp, walked, and compared with what stat says of the paths that should count.
 * One that needs an ordinary user is made and walked by a child that gave root up.
 */
#include "runner/case.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "base/num.h"
#include "limits/walk.h"
#include "sys/file.h"

enum { NOBODY = 65534, BLOCK = 512, ANSWER_MAX = 1 << 20, MODE_BASE = 8 };

static const char *member(const json_t *e, const char *key)
{
	const char *s = json_get_string(e, key);

	return s ? s : "";
}

static int fill_file(const json_t *e, int fd)
{
	size_t n = (size_t)json_get_int(e, "write", 0);
	auto_free char *bytes = mem_alloc(n);
	int64_t size = json_get_int(e, "size", -1);
	int64_t more = json_get_int(e, "fallocate_keep_size", 0);

	memset(bytes, 'x', n);
	if (pwrite(fd, bytes, n, 0) != (ssize_t)n || (size >= 0 && ftruncate(fd, size) < 0) ||
		(more > 0 && fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, more) < 0))
		return -1;
	/* Blocks are as they will stay. */
	return fsync(fd);
}

static int make_file(const json_t *e, int dir)
{
	auto_fd int fd =
		openat(dir, member(e, "path"), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	return fd < 0 ? -1 : fill_file(e, fd);
}

static int make_dir(const json_t *e, int dir)
{
	return mkdirat(dir, member(e, "path"), 0755);
}

static int make_symlink(const json_t *e, int dir)
{
	return symlinkat(member(e, "to"), dir, member(e, "path"));
}

static int make_hardlink(const json_t *e, int dir)
{
	return linkat(dir, member(e, "to"), dir, member(e, "path"), 0);
}

static int make_fifo(const json_t *e, int dir)
{
	return mkfifoat(dir, member(e, "path"), 0644);
}

static int make_socket(const json_t *e, int dir)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	auto_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "/proc/self/fd/%d/%s", dir, member(e, "path"));
	return fd < 0 ? -1 : bind(fd, (struct sockaddr *)&at, sizeof(at));
}

static int make_mode(const json_t *e, int dir)
{
	mode_t mode = 0;

	for (const char *p = member(e, "mode"); *p; p++)
		mode = mode * MODE_BASE + (mode_t)(*p - '0');
	return fchmodat(dir, member(e, "path"), mode, 0);
}

static const struct {
	const char *type;
	int (*make)(const json_t *e, int dir);
} makers[] = {
	{"dir", make_dir},
	{"file", make_file},
	{"symlink", make_symlink},
	{"hardlink", make_hardlink},
	{"fifo", make_fifo},
	{"socket", make_socket},
	{"chmod", make_mode},
};

/* NULL, or the path of what could not be made. */
static const char *make_tree(const json_t *tree, int dir)
{
	size_t i;
	json_t *e;

	json_array_foreach(tree, i, e)
	{
		int made = -1;
		for (size_t k = 0; k < ARRAY_SIZE(makers); k++)
			if (strcmp(makers[k].type, member(e, "type")) == 0)
				made = makers[k].make(e, dir);
		if (made < 0)
			return member(e, "path");
	}
	return NULL;
}

/* What stat says of the paths that should count. */
static uint64_t bytes_of(const json_t *paths, int dir)
{
	uint64_t sum = 0;
	struct stat st;
	size_t i;
	json_t *p;

	json_array_foreach(paths, i,
		p) if (fstatat(dir, json_string_value(p), &st, AT_SYMLINK_NOFOLLOW) == 0) sum +=
		(uint64_t)st.st_blocks * BLOCK;
	return sum;
}

static json_t *walk_it(json_t *c, int dir)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(walk_result) found = {0};
	AUTO_PTR(walk) w = walk_new(&(struct walk_bounds){0});
	struct walk_root root = {
		.at = dir, .path = ".", .exclude_top = json_get_string(c, "exclude_top")};
	json_t *counted = json_object_get(json_object_get(c, "expect"), "counted");

	if (walk_root(w, &root, &found, &err) != 0)
		return json_pack("{s:s}", "error", err.message);
	json_t *got = json_pack("{s:s, s:I}", "state",
		found.reason == WALK_COMPLETE ? "complete" : "incomplete", "entries",
		(json_int_t)found.entries);
	uint64_t wanted = bytes_of(counted, dir);
	if (found.bytes == wanted)
		json_object_set(got, "counted", counted);
	else
		json_object_set_new(got, "bytes",
			json_pack("[I, I]", (json_int_t)found.bytes, (json_int_t)wanted));
	json_t *list = json_array();
	for (size_t i = 0; i < WALK_UNREADABLE_SHOWN && found.unreadable[i]; i++)
		json_array_append_new(list, json_string(found.unreadable[i]));
	if (json_array_size(list) > 0)
		json_object_set(got, "unreadable", list);
	json_decref(list);
	return got;
}

static json_t *make_and_walk(json_t *c, int dir)
{
	const char *failed = make_tree(json_object_get(c, "tree"), dir);

	return failed ? json_pack("{s:s}", "not_made", failed) : walk_it(c, dir);
}

/* In a child without root; NULL: it cannot be one. */
static json_t *as_nobody(json_t *c, int dir)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(str) answer = STR_INIT(ANSWER_MAX);
	int ends[2];

	if (fchown(dir, NOBODY, NOBODY) < 0 || pipe2(ends, O_CLOEXEC) < 0)
		return NULL;
	pid_t child = fork();
	if (child == 0) {
		bool ordinary = setgid(NOBODY) == 0 && setuid(NOBODY) == 0;
		auto_json *got = ordinary ? make_and_walk(c, dir) : NULL;
		auto_free char *text = json_write(got ? got : json_null());
		(void)!write(ends[1], text, strlen(text));
		_exit(0);
	}
	close(ends[1]);
	bool read = file_read_fd(ends[0], ANSWER_MAX - 1, &answer, &err) == 0;
	close(ends[0]);
	if (child > 0)
		waitpid(child, NULL, 0);
	json_t *got =
		!read ? NULL : json_loadb(str_text(&answer), answer.len, JSON_DECODE_ANY, NULL);
	return json_is_object(got) ? got : NULL;
}

static void run_walk(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	char path[] = "/tmp/cloop-case-XXXXXX";
	bool ordinary = strcmp(member(c, "needs"), "non-root") == 0 && geteuid() == 0;
	auto_fd int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (!mkdtemp(path)) {
		r->got = json_null();
		return;
	}
	auto_fd int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	json_t *got = ordinary ? as_nobody(c, dir) : make_and_walk(c, dir);
	if (got)
		case_exact(r, c, got);
	else
		r->skip = "this process cannot become an ordinary user";
	if (file_remove_tree_at(tmp, path + strlen("/tmp/"), &err) < 0)
		printf("# %s: %s\n", path, err.message);
}

const struct case_kind case_walk_kinds[] = {
	{"walk", (const char *const[]){"tree", "exclude_top", "needs", NULL}, run_walk},
	{.kind = NULL},
};
