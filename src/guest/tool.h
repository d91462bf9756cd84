/* The `cloop` of a sandbox: what the init's file answers under any other name (§19.2, §23.1). */
#pragma once

/* The exit status. */
int tool_main(int argc, char **argv);
