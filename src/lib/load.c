/*
 * As the library is loaded: it is a guest in somebody else's program. Nothing is printed there, and
 * its supervisors do not lie beside it. Its children are not the program's to wait for.
 */
#include "sys/env.h"
#include "sys/log.h"
#include "sys/program.h"
#include "sys/spawn-keeper.h"

static void __attribute__((constructor)) load(void)
{
	log_set_fd(-1);
	program_set_folder(env_get("CLOOP_LIBEXEC_DIR"));
	spawn_keeper_use("cloop-shim");
}
