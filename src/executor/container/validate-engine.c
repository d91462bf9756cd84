/* Words that the engine resolves: container-driver.md §5.3, §5.4, §5.5. */
#include "executor/container/validate.h"

#include "base/path.h"

enum { RUNTIME_PATH_MAX = 4096, OCI_RUNTIME_MAX = 64, NETWORK_MAX = 128 };

int validate_runtime(struct text t, struct error *err)
{
	if (t.len == 0 || text_is(t, "podman") || text_is(t, "docker"))
		return 0;
	if (path_clean(t) && t.len <= RUNTIME_PATH_MAX && !text_has_control(t) &&
		(text_ends(t, "/podman") || text_ends(t, "/docker")))
		return 0;
	return error_set(err, ERROR_RUNTIME_UNSUPPORTED, "runtime %s is not supported", quoted(t));
}

int validate_oci_runtime(struct text t, struct error *err)
{
	t = text_trim(t);
	if (t.len == 0)
		return 0;
	if (t.len > OCI_RUNTIME_MAX)
		return error_set(err, ERROR_OCI_RUNTIME_TOO_LONG,
			"OCI runtime %s is longer than %d bytes", quoted(t), OCI_RUNTIME_MAX);
	if (t.p[0] == '-')
		return error_set(err, ERROR_OCI_RUNTIME_DASH, "OCI runtime %s begins with a dash",
			quoted(t));
	if (text_has_byte(t, '/') || text_has_byte(t, '\\'))
		return error_set(
			err, ERROR_OCI_RUNTIME_PATH, "OCI runtime %s is a path", quoted(t));
	if (!text_all_word(t, "._-"))
		return error_set(err, ERROR_OCI_RUNTIME_INVALID,
			"%s is not the name of an OCI runtime", quoted(t));
	return 0;
}

/* NAME, `NAME-…`, `NAME.…`, or with `.NAME.` inside. */
static bool runtime_family(struct text lower, const char *name)
{
	AUTO(str) inside = STR_INIT(64);
	size_t n = strlen(name);

	if (text_starts(lower, name) && (lower.len == n || lower.p[n] == '-' || lower.p[n] == '.'))
		return true;
	str_addf(&inside, ".%s.", name);
	return text_has(lower, str_text(&inside));
}

struct oci_class oci_class_of(struct text name)
{
	struct text t = text_trim(name);
	AUTO(str) lower = STR_INIT(t.len);

	for (size_t i = 0; i < t.len; i++)
		str_add_char(&lower, ascii_to_lower(t.p[i]));
	t = (struct text){str_text(&lower), lower.len};
	return (struct oci_class){
		.virtualized = runtime_family(t, "kata") || text_is(t, "katacontainers"),
		.gvisor = runtime_family(t, "runsc") || runtime_family(t, "gvisor"),
	};
}

static int check_network_mode(struct text name, struct error *err)
{
	static const char *const modes[] = {
		"container", "ns", "slirp4netns", "pasta", "private", "default"};
	struct text rest = name, mode;

	text_split(&rest, ':', &mode);
	if (text_is_nocase(mode, "host"))
		return error_set(err, ERROR_NETWORK_HOST, "network %s is the host's own network",
			quoted(name));
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++)
		if (text_is_nocase(mode, modes[i]))
			return error_set(err, ERROR_NETWORK_MODE_REFUSED,
				"network %s is a mode, not a network", quoted(name));
	return 0;
}

int validate_network(struct text t, struct error *err)
{
	if (t.len == 0)
		return 0;
	if (check_network_mode(t, err) < 0)
		return -1;
	if (t.len > NETWORK_MAX)
		return error_set(err, ERROR_NETWORK_NAME_TOO_LONG,
			"network %s is longer than %d bytes", quoted(t), NETWORK_MAX);
	if (!ascii_alnum(t.p[0]) || !text_all_word(t, "_.-"))
		return error_set(err, ERROR_NETWORK_NAME_INVALID, "%s is not the name of a network",
			quoted(t));
	return 0;
}
