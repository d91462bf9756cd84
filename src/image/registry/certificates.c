#include "image/registry/certificates.h"

#include <dirent.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/strv.h"
#include "image/registry/url.h"
#include "sys/file.h"

enum { FILES_MAX = 64, FILE_MAX_BYTES = 1 << 20 };

static const char *const folders[] = {"/etc/containers/certs.d", "/etc/docker/certs.d"};

static void list_folder(const char *path, struct strv *ret)
{
	DIR *dir = opendir(path);

	for (struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir))
		if (text_ends(text_of(e->d_name), ".crt"))
			(void)strv_addf(ret, "%s/%s", path, e->d_name);
	if (dir)
		closedir(dir);
}

static int append_file(const char *path, struct str *ret, struct error *err)
{
	auto_error struct error why = ERROR_INIT;
	AUTO(str) content = STR_INIT(0);

	if (file_read(path, FILE_MAX_BYTES, &content, &why) < 0)
		return error_set(err, ERROR_REGISTRY_TLS, "%s", why.message);
	str_add(ret, str_text(&content), content.len);
	return str_add_char(ret, '\n') < 0 ? error_set(err, ERROR_REGISTRY_TLS,
						     "%s and others are larger than %d bytes",
						     quoted_string(path), CERTIFICATES_MAX_BYTES)
					   : 0;
}

static void list_files(const struct url *u, struct strv *ret)
{
	auto_free char *authority = url_authority(u);
	auto_free char *spelled = mem_printf("%s:%u", u->host, u->port);

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		auto_free char *first = mem_printf("%s/%s", folders[i], authority);
		auto_free char *second = mem_printf("%s/%s", folders[i], spelled);
		list_folder(first, ret);
		if (strcmp(first, second) != 0)
			list_folder(second, ret);
	}
}

int certificates_read(
	const struct url *u, const char *system_bundle, struct str *ret, struct error *err)
{
	AUTO(strv) files = STRV_INIT(FILES_MAX);

	list_files(u, &files);
	if (files.n == 0)
		return 0;
	strv_sort(&files);
	if (system_bundle && access(system_bundle, F_OK) == 0 &&
		append_file(system_bundle, ret, err) < 0)
		return -1;
	strv_foreach (file, &files)
		if (append_file(*file, ret, err) < 0)
			return -1;
	return 0;
}
