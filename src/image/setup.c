#include "image/setup.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>

#include "base/mem.h"
#include "image/netstring.h"

static bool has_control(struct text t)
{
	for (size_t i = 0; i < t.len; i++)
		if (ascii_control(t.p[i]) && t.p[i] != '\t')
			return true;
	return false;
}

/* What is wrong with a trimmed command, or NULL. */
static const char *fault_of(struct text command)
{
	if (command.len == 0)
		return "is empty";
	if (command.len > SETUP_COMMAND_MAX)
		return "has more than 4096 bytes";
	if (has_control(command))
		return "holds a control character";
	if (text_starts(command, "--"))
		return "begins with --";
	return utf8_valid(command) ? NULL : "is not UTF-8";
}

int setup_check(const struct text *commands, size_t n, struct error *err)
{
	if (n == 0 || n > SETUP_COMMANDS_MAX)
		return error_set(err, ERROR_INVALID_SETUP,
			"%zu setup commands, from 1 to %d can be", n, SETUP_COMMANDS_MAX);
	for (size_t i = 0; i < n; i++) {
		struct text command = text_trim_line(commands[i]);
		const char *fault = fault_of(command);
		if (fault)
			return error_set(err, ERROR_INVALID_SETUP, "the setup command %s %s",
				quoted(command), fault);
	}
	return 0;
}

static const char *engine_word(enum image_store engine)
{
	return engine == IMAGE_STORE_DOCKER ? "docker" : "podman";
}

void setup_key(const struct setup_facts *f, char out[SHA256_HEX_SIZE])
{
	AUTO(str) bytes = STR_INIT(SETUP_COMMANDS_MAX * (SETUP_COMMAND_MAX + 16) + 4096);

	netstring_add_string(&bytes, "cloop-derived-1");
	netstring_add_string(&bytes, engine_word(f->engine));
	netstring_add_string(&bytes, f->base_id);
	netstring_add_string(&bytes, f->base);
	netstring_add_string(&bytes, f->open_network ? "open" : "none");
	netstring_add_number(&bytes, f->cpu_millis);
	netstring_add_number(&bytes, f->memory_mb);
	netstring_add_number(&bytes, f->n_commands);
	for (size_t i = 0; i < f->n_commands; i++)
		netstring_add(&bytes, text_trim_line(f->commands[i]));
	assert(!str_full(&bytes));
	sha256_hex((struct text){str_text(&bytes), bytes.len}, out);
}

/* ---- Dockerfile ---- */

/* One character of a JSON string that no builder takes for syntax. */
static void add_character(struct str *out, uint32_t c)
{
	if (c >= 0x10000) {
		str_addf(out, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10),
			0xdc00 + ((c - 0x10000) & 0x3ff));
	} else if (c < 0x20 || c > 0x7e || c == '<') {
		str_addf(out, "\\u%04x", c);
	} else {
		if (c == '"' || c == '\\')
			str_add_char(out, '\\');
		str_add_char(out, (char)c);
	}
}

static void add_command(struct str *out, struct text command)
{
	uint32_t c;

	str_add_text(out, "RUN [\"/bin/sh\",\"-c\",\"");
	while (command.len > 0) {
		size_t n = utf8_next(command, &c);
		assert(n > 0);
		add_character(out, c);
		command = text_after(command, n);
	}
	str_add_text(out, "\"]\n");
}

int setup_dockerfile(
	const struct setup_facts *f, const char *key, struct str *out, struct error *err)
{
	if (setup_check(f->commands, f->n_commands, err) < 0)
		return -1;
	str_addf(out, "FROM %s\n", f->base_id);
	str_addf(out, "LABEL \"%s\"=\"%s\"\n", SETUP_LABEL_BASE, f->base);
	str_addf(out, "LABEL \"%s\"=\"%s\"\n", SETUP_LABEL_KEY, key);
	for (size_t i = 0; i < f->n_commands; i++)
		add_command(out, text_trim_line(f->commands[i]));
	return str_full(out) ? error_set(err, ERROR_INTERNAL, "the Dockerfile does not fit") : 0;
}

/* ---- Network and argv ---- */

const char *setup_network_of(const struct setup_network *n)
{
	if (n->disabled || n->filtered || *n->egress_scope || n->egress_session)
		return "none";
	if (n->engine == IMAGE_STORE_PODMAN && strcmp(n->executor, "bridge") == 0)
		return "private";
	return n->executor;
}

/* Words of a bounded number: they fit. */
static void add(struct strv *l, const char *fmt, ...) printf_like(2, 3);
static void add(struct strv *l, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	int added = strv_take(l, mem_vprintf(fmt, ap));
	va_end(ap);
	assert(added == 0);
}

static void add_limits(const struct setup_build *b, struct strv *ret)
{
	const uint64_t bytes = b->memory_mb << 20, quota = 100 * b->cpu_millis;

	if (b->cpu_millis > 0) {
		add(ret, "--cpu-period=100000");
		add(ret, "--cpu-quota=%" PRIu64, quota > 1000 ? quota : 1000);
	}
	if (b->memory_mb > 0) {
		add(ret, "--memory=%" PRIu64, bytes);
		add(ret, "--memory-swap=%" PRIu64, bytes);
	}
	if (b->ulimits)
		strv_foreach (ulimit, b->ulimits)
			add(ret, "--ulimit=%s", *ulimit);
}

void setup_build_argv(const struct setup_build *b, struct strv *ret)
{
	bool podman = b->engine == IMAGE_STORE_PODMAN;

	add(ret, "%s", b->program);
	add(ret, "build");
	add(ret, "--file=-");
	add(ret, "--tag=" SETUP_NAME ":build-%s", b->nonce);
	add(ret, "--iidfile=%s", b->iidfile);
	add(ret, podman ? "--pull=never" : "--pull=false");
	add(ret, "--no-cache");
	if (podman)
		add(ret, "--layers=false");
	add(ret, "--force-rm=true");
	if (podman)
		add(ret, "--http-proxy=false");
	add(ret, "--network=%s", b->network);
	if (podman) {
		add(ret, "--cap-drop=ALL");
		add(ret, "--cap-add=CHOWN,DAC_OVERRIDE,FOWNER,FSETID,SETGID,SETUID");
	}
	add_limits(b, ret);
	add(ret, "%s", b->context);
}
