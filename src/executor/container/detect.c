#include "executor/container/detect.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/mem.h"
#include "executor/container/failure.h"
#include "executor/container/validate.h"

enum { INFO_BYTES_MAX = 1 << 20 };

void detect_file_done(struct detect_file *f)
{
	free(f->path);
	f->path = NULL;
}

static int check_safe(const struct detect_file *f, bool by_path, uid_t euid, struct error *err)
{
	/* Our own program is fine where PATH names it: we could have changed PATH as well. */
	uid_t other = by_path ? 0 : euid;

	if (f->mode & (S_IWGRP | S_IWOTH))
		return error_set(err, ERROR_RUNTIME_UNSAFE,
			"engine %s can be written by its group or by others",
			quoted_string(f->path));
	if (f->owner_uid != 0 && f->owner_uid != other)
		return error_set(err, ERROR_RUNTIME_UNSAFE, "engine %s belongs to uid %u",
			quoted_string(f->path), f->owner_uid);
	for (size_t i = 0; i < f->n_dirs; i++) {
		const struct detect_dir *d = &f->dirs[i];
		if (d->mode & S_IWOTH)
			return error_set(err, ERROR_RUNTIME_UNSAFE,
				"a directory on the way to engine %s can be written by others",
				quoted_string(f->path));
		if (d->owner_uid != 0 && d->owner_uid != other)
			return error_set(err, ERROR_RUNTIME_UNSAFE,
				"a directory on the way to engine %s belongs to uid %u",
				quoted_string(f->path), d->owner_uid);
	}
	return 0;
}

static int check_version(
	enum engine engine, const char *path, struct text version, struct error *err)
{
	if (text_starts_nocase(version, engine_text(engine)))
		return 0;
	if (engine == ENGINE_DOCKER && text_starts_nocase(version, "podman version"))
		return error_set(err, ERROR_RUNTIME_MASQUERADE,
			"engine %s is podman under docker's name", quoted_string(path));
	return error_set(err, ERROR_RUNTIME_UNSUPPORTED, "engine %s does not say that it is %s: %s",
		quoted_string(path), engine_text(engine), quoted(version));
}

/* The engine that a configured name or path means. */
static enum engine engine_named(struct text configured)
{
	return text_ends(configured, "docker") ? ENGINE_DOCKER : ENGINE_PODMAN;
}

static int find(const char *configured, const struct detect_probe *probe, enum engine *ret_engine,
	struct detect_file *ret, struct error *err)
{
	struct text name = text_of(configured);

	if (name.len > 0) {
		*ret_engine = engine_named(name);
		return probe->find(probe->data, configured, ret)
			       ? 0
			       : error_set(err, ERROR_RUNTIME_MISSING, "engine %s was not found",
					 quoted(name));
	}
	for (int e = 0; e < ENGINE_COUNT; e++) {
		*ret_engine = (enum engine)e;
		if (probe->find(probe->data, engine_text(*ret_engine), ret))
			return 0;
	}
	return error_set(err, ERROR_RUNTIME_MISSING, "neither podman nor docker was found on PATH");
}

int detect_decide(const char *configured, uid_t euid, const struct detect_probe *probe,
	struct runtime *ret, struct error *err)
{
	AUTO(detect_file) file = {0};
	AUTO(str) version = STR_INIT(4096);
	enum engine engine;

	if (validate_runtime(text_of(configured), err) < 0 ||
		find(configured, probe, &engine, &file, err) < 0)
		return -1;
	if (!file.regular || !file.executable)
		return error_set(err, ERROR_RUNTIME_MISSING, "engine %s is not a program",
			quoted_string(file.path));
	if (check_safe(&file, configured[0] == '/', euid, err) < 0 ||
		probe->version(probe->data, engine, file.path, &version, err) < 0 ||
		check_version(
			engine, file.path, (struct text){str_text(&version), version.len}, err) < 0)
		return -1;
	*ret = (struct runtime){.engine = engine, .rootless = engine == ENGINE_PODMAN && euid != 0};
	ret->path = TAKE_PTR(file.path);
	return 0;
}

int detect_check_endpoint(struct text endpoint, struct error *err)
{
	if (text_starts(endpoint, "unix://"))
		return 0;
	return error_set(err, ERROR_RUNTIME_REMOTE, "docker's endpoint %s is not a local socket",
		quoted(endpoint));
}

const char *detect_docker_silence(const json_t *info)
{
	return json_string_value(json_array_get(json_object_get(info, "ServerErrors"), 0));
}

static int fail_by_silence(const char *words, struct error *err)
{
	AUTO(str) said = STR_INIT(INFO_BYTES_MAX);
	AUTO(str) nothing = STR_INIT(1);
	const struct failure f = {
		.engine = ENGINE_DOCKER, .call = TEXT("info"), .err = &said, .out = &nothing};

	str_add_text(&said, words);
	return failure_explain(&f, err);
}

int detect_check_docker_info(struct text json, struct error *err)
{
	auto_json *info = json_read(json, INFO_BYTES_MAX, "docker info", ERROR_ENGINE_FAILED, err);
	size_t i;
	json_t *option;

	if (!info)
		return -1;
	const char *silence = detect_docker_silence(info);
	if (silence)
		return fail_by_silence(silence, err);
	json_array_foreach(json_object_get(info, "SecurityOptions"), i, option)
	{
		struct text rest = json_text(option), part;
		while (text_split(&rest, ',', &part))
			if (text_is(part, "name=rootless") || text_is(part, "name=userns"))
				return error_set(err, ERROR_DOCKER_USERNS,
					"the docker daemon runs with security option %s",
					quoted(part));
	}
	return 0;
}
