#include "spec/starter.h"

static const char head[] =
	"# The sandbox that this repository's tasks run in. Every key is optional; a file that\n"
	"# says nothing means the executor's defaults. It can only take access away: what a run\n"
	"# may reach is granted by the operator. `cloop sandbox check` judges this file.\n"
	"\n"
	"# The image of the tasks. The operator's policy decides which ones may be used.\n";

static const char body[] =
	"\n"
	"# Commands baked into a derived image once, each one line for /bin/sh.\n"
	"#setup:\n"
	"#- apt-get update && apt-get install -y --no-install-recommends ripgrep\n"
	"\n"
	"# Names (never values) of granted variables to forward. Absent: all of them. []: none.\n"
	"#env:\n"
	"#- ANTHROPIC_API_KEY\n"
	"\n"
	"# What a task asks for. Ceilings of the operator cap it.\n"
	"#resources:\n"
	"#  cpu: 2        # cores\n"
	"#  memory: 4g    # 64m or more\n"
	"#  pids: 512     # processes and threads\n"
	"#  disk: 2g      # the workspace, 64m or more\n"
	"\n"
	"#capabilities:\n"
	"#  git: true                  # the sandbox needs git\n"
	"#  network: egress_...        # ID of an egress grant (cloop egress list); absent: no "
	"network\n"
	"#  egress: none               # public: no private addresses; none: no network, proven\n"
	"#  kernel_isolated: true      # gVisor or Kata\n"
	"#  virtualized: true          # Kata only\n"
	"#  devices: [serial0]         # which granted devices to attach; absent: all\n"
	"#  interfaces: [dut]          # which granted interfaces to move in; needs network\n"
	"\n"
	"# Paths of the project that are shown elsewhere in the sandbox too.\n"
	"#mounts:\n"
	"#- source: .cache/pip\n"
	"#  target: /home/agent/.cache/pip\n"
	"#- source: vendor\n"
	"#  target: /opt/vendor\n"
	"#  read_only: true\n";

void starter_write(const char *image, struct str *out)
{
	str_add_text(out, head);
	if (image)
		str_addf(out, "image: %s\n", image);
	else
		str_add_text(out, "#image: ghcr.io/acme/python-toolchain:3.12\n");
	str_add_text(out, body);
}
