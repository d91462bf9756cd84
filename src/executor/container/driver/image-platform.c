#include "executor/container/driver/image-platform.h"

#include <fcntl.h>

#include "base/mem.h"
#include "executor/container/driver/image-store.h"
#include "image/platform.h"
#include "image/registry/manifest.h"
#include "sys/file.h"

enum { HANDLER_MAX = 4096 };

/* The kernel hands its programs to an emulator. */
static bool emulated(const char *emulator)
{
	auto_free char *path = mem_printf("/proc/sys/fs/binfmt_misc/%s", emulator);
	AUTO(str) text = STR_INIT(HANDLER_MAX);

	return file_read_at(AT_FDCWD, path, HANDLER_MAX - 1, &text) == 0 &&
	       text_starts(text_of(str_text(&text)), "enabled");
}

static int judge(const char *image, struct text made_for, struct error *err)
{
	const char *machine = manifest_architecture();
	const char *emulator = platform_emulator(made_for, text_of(machine));

	if (!emulator || emulated(emulator))
		return 0;
	error_set(err, ERROR_COMMAND_NOT_EXECUTABLE,
		"image %s is made for %.*s, and this machine runs %s", quoted_string(image),
		(int)made_for.len, made_for.p, machine);
	return error_set_remedy(err,
		"set executors.container.image to one for %s, or install qemu-user-static, which "
		"runs programs of %.*s",
		machine, (int)made_for.len, made_for.p);
}

int image_platform_check(const struct container_driver *d, const char *home, struct error *err)
{
	auto_error struct error ignored = ERROR_INIT;
	AUTO(stored_image) image = STORED_IMAGE_INIT;
	AUTO(strv) env = STRV_INIT(64);

	if (client_environment(&d->runtime, home, &env, &ignored) < 0)
		return 0;
	AUTO(image_answers) answers = {.runtime = &d->runtime, .env = &env, .cancel_fd = -1};
	if (image_store_look_up(&answers, d->options.image, &image, &ignored) < 0)
		return 0;
	return judge(d->options.image, image_inspect_architecture(image.inspect), err);
}
