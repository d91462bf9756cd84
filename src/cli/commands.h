/* The rows of the verb table; each is defined in the file of its command (cmd-*.c). */
#pragma once

#include "cli/verb.h"

extern const struct verb cmd_completion;
extern const struct verb cmd_generate_man;
extern const struct verb cmd_help;
extern const struct verb cmd_image_check;
extern const struct verb cmd_image_parse;
extern const struct verb cmd_sandbox_check;
extern const struct verb cmd_sandbox_init;
extern const struct verb cmd_sandbox_schema;
extern const struct verb cmd_version;
