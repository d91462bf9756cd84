/*
 * Fixed places inside a sandbox (container-driver.md §2).
 */
#pragma once

#define PATHS_WORKSPACE "/workspace"
#define PATHS_CLOOP "/usr/local/bin/cloop"
#define PATHS_INIT "/run/cloop/init"
#define PATHS_INIT_STANDALONE "/run/cloop/init-standalone"
#define PATHS_CTL "/run/cloop/ctl"
#define PATHS_ENV_FILE "/proc/self/fd/3"
