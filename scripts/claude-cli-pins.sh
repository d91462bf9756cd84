#!/bin/sh
# claude-cli-pins.sh VERSION: prints the pins of that version for images/pins/claude (see cli-pins).
CLI_PINS_NAME=$0 exec "$(dirname "$0")/cli-pins" @anthropic-ai/claude-code "$@"
