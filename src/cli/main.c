/* cloop: the command line. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/help.h"
#include "cli/parse.h"
#include "sys/log.h"
#include "vault/passphrase.h"

/* A closed standard descriptor would be given to the next file that is opened. */
static void open_standard_descriptors(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= 2);
	if (fd > 2)
		close(fd);
}

static int run(struct cli *c, int argc, char **argv)
{
	auto_error struct error err = ERROR_INIT;
	int status = parse_command_line(argc, argv, c, &err);

	if (status == 0 && c->help)
		status = help_show(c->group, c->verb, &err);
	else if (status == 0)
		status = cli_check_paths(c, &err) < 0 ? -1 : c->verb->run(c, &err);
	if (status >= 0)
		return status;
	cli_print_error(c, &err);
	return cli_error_exit(c, &err);
}

int main(int argc, char **argv)
{
	AUTO(cli) c = {0};

	open_standard_descriptors();
	passphrase_take();
	signal(SIGXFSZ, SIG_IGN); /* a file limit is an error like a full disk */
	log_open("cloop", LOG_LEVEL_INFO);
	int status = run(&c, argc, argv);
	errno = 0;
	if (fflush(stdout) != 0 || ferror(stdout)) {
		fprintf(stderr, "cloop: writing the answer: %s\n",
			errno ? strerror(errno) : "not all of it was taken");
		return status ? status : CLI_REFUSED;
	}
	return status;
}
