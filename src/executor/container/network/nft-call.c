#include "executor/container/network/nft-call.h"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "net/nft-script.h"
#include "sys/file.h"
#include "sys/spawn.h"

enum { STDERR_MAX = 4096, QUOTE_MAX = 300, SMALL_MAX = 64 << 10 };

const char *nft_call_program(void)
{
	static const char *const places[] = {
		"/usr/sbin/nft", "/usr/bin/nft", "/sbin/nft", "/bin/nft"};

	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (access(places[i], X_OK) == 0)
			return places[i];
	return NULL;
}

char *const *nft_call_env(void)
{
	static char path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
	static char *const env[] = {path, NULL};

	return env;
}

static bool has_net_admin(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

	return syscall(SYS_capget, &header, data) == 0 &&
	       (data[0].effective & (1U << CAP_NET_ADMIN)) != 0;
}

bool nft_call_permitted(void)
{
	return geteuid() == 0 || has_net_admin();
}

static int unavailable(const char *said, struct error *err)
{
	if (geteuid() == 0)
		error_set(err, ERROR_NFT_UNAVAILABLE,
			"nft is there, but root is not permitted to use it here: %s", said);
	else if (!has_net_admin())
		return error_set(err, ERROR_NFT_UNAVAILABLE,
			"nft needs CAP_NET_ADMIN, which uid %u does not have: %s", geteuid(), said);
	else
		error_set(err, ERROR_NFT_UNAVAILABLE,
			"nft may not open its netlink socket (AF_NETLINK): %s", said);
	return error_set_remedy(err,
		"let the service use AF_NETLINK sockets and CAP_NET_ADMIN, in the host's "
		"network namespace");
}

static int failed(const struct captured *c, struct error *err)
{
	AUTO(str) said = STR_INIT(4096);
	struct text words = {str_text(&c->err), c->err.len};

	text_escape(&said, text_trim(words), QUOTE_MAX);
	if (c->timed_out)
		return error_set(err, ERROR_NFT_FAILED, "nft did not answer within %d s",
			NFT_CALL_TIMEOUT_MS / 1000);
	if (nft_script_is_privilege(words))
		return unavailable(str_text(&said), err);
	return error_set(err, ERROR_NFT_FAILED, "nft: %s", str_text(&said));
}

/* argv: nft itself first. */
static int run(const struct strv *argv, int script, size_t out_max, struct captured *ret,
	struct error *err)
{
	struct capture how = {.stdout_max = out_max,
		.stderr_max = STDERR_MAX,
		.timeout_ms = NFT_CALL_TIMEOUT_MS,
		.cancel_fd = -1};
	struct spawn s = {.path = nft_call_program(),
		.argv = argv->v,
		.env = nft_call_env(),
		.fds = {{script, 0}},
		.n_fds = script >= 0};

	if (!s.path)
		return error_set(err, ERROR_NFT_UNAVAILABLE, "nft is not installed");
	if (spawn_capture(&s, &how, ret, err) < 0)
		return -1;
	bool good = !ret->timed_out && WIFEXITED(ret->status) && WEXITSTATUS(ret->status) == 0;
	return good ? 0 : failed(ret, err);
}

int nft_call_usable(struct error *err)
{
	AUTO(strv) argv = STRV_INIT(NFT_CALL_WORDS_MAX);
	AUTO(captured) c = {.status = 0};

	STRV_ADD(&argv, "nft", "list", "tables");
	return run(&argv, -1, SMALL_MAX, &c, err);
}

int nft_call_apply(const struct str *script, struct error *err)
{
	AUTO(strv) argv = STRV_INIT(NFT_CALL_WORDS_MAX);
	AUTO(captured) c = {.status = 0};
	auto_fd int fd = file_memfd("nft", (struct text){str_text(script), script->len}, err);

	STRV_ADD(&argv, "nft", "-f", "-");
	return fd < 0 ? -1 : run(&argv, fd, SMALL_MAX, &c, err);
}

void nft_call_list_words(const char *table, struct strv *ret)
{
	STRV_ADD(ret, "nft", "-j", "-s", "list", "table", "inet", table);
}

bool nft_call_says_missing(struct text words)
{
	return text_has(words, "No such file or directory");
}

int nft_call_fingerprint(const char *table, char out[SHA256_HEX_SIZE], struct error *err)
{
	AUTO(strv) argv = STRV_INIT(NFT_CALL_WORDS_MAX);
	AUTO(captured) c = {.status = 0};

	nft_call_list_words(table, &argv);
	if (run(&argv, -1, NFT_LISTING_TABLE_MAX, &c, err) < 0)
		return -1;
	return nft_listing_fingerprint((struct text){str_text(&c.out), c.out.len}, out, err);
}

int nft_call_tables(nft_listing_fn *fn, void *data, struct error *err)
{
	AUTO(strv) argv = STRV_INIT(NFT_CALL_WORDS_MAX);
	AUTO(captured) c = {.status = 0};

	/* Terse: the sets of other tables can be large. */
	STRV_ADD(&argv, "nft", "-t", "-s", "list", "ruleset", "inet");
	if (run(&argv, -1, NFT_LISTING_RULES_MAX, &c, err) < 0)
		return -1;
	nft_listing_tables((struct text){str_text(&c.out), c.out.len}, fn, data);
	return 0;
}
