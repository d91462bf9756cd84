/* Runs a command in a sandbox of the current directory: embed HOME OCI_RUNTIME IMAGE COMMAND… */
#include <cloop/container.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct cloop_error *err;
static void die(void)
{
	fprintf(stderr, "embed: %s (%s)\n", cloop_error_message(err), cloop_error_remediation(err));
	exit(1);
}

/* What it prints goes where we print; after a minute it is told to end. */
static void pass_on(struct cloop_container *c, const char *handle)
{
	const struct cloop_log_line *line;
	struct cloop_cancel *minute;
	struct cloop_stream *stream;
	int r;
	if (cloop_cancel_new(60000, &minute, err) < 0 ||
		cloop_container_stream(c, handle, 0, &stream, err) < 0)
		die();
	while ((r = cloop_stream_next(stream, minute, &line, err)) == 0)
		fwrite(line->data, 1, line->size,
			line->stream == CLOOP_LOG_STDOUT ? stdout : stderr);
	if (r < 0 && cloop_container_signal(c, NULL, handle, CLOOP_SIGNAL_TERMINATE, err) < 0)
		die();
	cloop_stream_free(stream);
	cloop_cancel_free(minute);
}

int main(int argc, char **argv)
{
	char handle[CLOOP_HANDLE_SIZE], here[4096], **names;
	struct cloop_container_options options;
	struct cloop_container *c;
	struct cloop_spec spec;

	err = cloop_error_new();
	cloop_container_options_init(&options);
	cloop_spec_init(&spec);
	if (argc < 5 || !getcwd(here, sizeof(here)))
		return 2;
	options.home = argv[1];        /* "": one for as long as we run */
	options.oci_runtime = argv[2]; /* "": the engine's own */
	options.image = argv[3];
	spec.work_dir = here;
	spec.argv = (const char *const *)argv + 4;
	if (cloop_container_new(&options, &c, err) < 0 ||
		cloop_container_start(c, NULL, &spec, handle, err) < 0)
		die();
	pass_on(c, handle);
	if (cloop_container_reap_orphans(c, NULL, &names, err) < 0)
		die();
	cloop_strings_free(names);
	cloop_container_unref(c);
	cloop_error_free(err);
	return 0;
}
