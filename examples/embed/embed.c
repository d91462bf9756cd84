/*
 * Runs a command in a sandbox of the current directory, at most so many seconds:
 *     embed HOME OCI_RUNTIME IMAGE SECONDS COMMAND…
 * Exits as the command did.
 */
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

/* What it prints goes where we print. False: it goes on, and the time is over; 0 = no end. */
static bool pass_on(struct cloop_stream *stream, int64_t seconds)
{
	const struct cloop_log_line *line;
	struct cloop_cancel *over;
	int r;

	if (cloop_cancel_new(seconds ? seconds * 1000 : -1, &over, err) < 0)
		die();
	while ((r = cloop_stream_next(stream, over, &line, err)) == 0)
		if (line->stream == CLOOP_LOG_STDOUT || line->stream == CLOOP_LOG_STDERR)
			fwrite(line->data, 1, line->size,
				line->stream == CLOOP_LOG_STDOUT ? stdout : stderr);
	cloop_cancel_free(over);
	if (r < 0 && !cloop_error_is(err, CLOOP_ERR_CANCELLED))
		die();
	return r > 0;
}

/* Until its end: first by itself, then it is told to, then it is made to. */
static void see_it_end(struct cloop_container *c, const char *handle, int64_t seconds)
{
	struct cloop_stream *stream;

	if (cloop_container_stream(c, handle, 0, &stream, err) < 0)
		die();
	if (!pass_on(stream, seconds)) {
		if (cloop_container_signal(c, NULL, handle, CLOOP_SIGNAL_TERMINATE, err) < 0)
			die();
		if (!pass_on(stream, 10) &&
			cloop_container_signal(c, NULL, handle, CLOOP_SIGNAL_KILL, err) < 0)
			die();
		pass_on(stream, 0);
	}
	cloop_stream_free(stream);
}

static int exit_code_of(struct cloop_container *c, const char *handle)
{
	struct cloop_status *status;
	int code;

	if (cloop_container_status(c, handle, &status, err) < 0)
		die();
	if (status->outcome[0] && status->exit_code != 0)
		fprintf(stderr, "embed: %s ended: %s\n", handle, status->outcome);
	code = status->exit_code;
	cloop_status_free(status);
	return code;
}

int main(int argc, char **argv)
{
	char handle[CLOOP_HANDLE_SIZE], here[4096], **names;
	struct cloop_container_options options;
	struct cloop_container *c;
	struct cloop_spec spec;
	int code;

	if (argc < 6 || !getcwd(here, sizeof(here)))
		return 2;
	err = cloop_error_new();
	cloop_container_options_init(&options);
	options.home = argv[1];        /* "": one for as long as we run */
	options.oci_runtime = argv[2]; /* "": the engine's own */
	options.image = argv[3];
	cloop_spec_init(&spec);
	spec.work_dir = here;
	spec.argv = (const char *const *)argv + 5;
	if (cloop_container_new(&options, &c, err) < 0 ||
		cloop_container_start(c, NULL, &spec, handle, err) < 0)
		die();
	see_it_end(c, handle, strtol(argv[4], NULL, 10));
	code = exit_code_of(c, handle);
	/* What others left behind when they died. */
	if (cloop_container_reap_orphans(c, NULL, &names, err) < 0)
		die();
	cloop_strings_free(names);
	cloop_container_unref(c);
	cloop_error_free(err);
	return code;
}
