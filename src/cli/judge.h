/* What the file of a project is judged with, as every command does it. */
#pragma once

#include "spec/spec.h"

extern const struct spec_checks judge_spec_checks;
