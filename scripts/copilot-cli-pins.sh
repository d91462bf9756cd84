#!/bin/sh
# copilot-cli-pins.sh VERSION: prints the pins of that version for images/pins/copilot (see cli-pins).
CLI_PINS_NAME=$0 exec "$(dirname "$0")/cli-pins" @github/copilot "$@"
