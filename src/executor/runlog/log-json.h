/* A frame of a run's log as JSON (container-driver.md §11.5). Pure. */
#pragma once

#include <jansson.h>

#include "base/cleanup.h"
#include "executor/runlog/log-format.h"

/*
 * {"handle_id","seq","stream","time"} and "text" (the payload is UTF-8; NUL is text), "data_b64",
 * or "lost_bytes" (gap; null = unknown); none of them for the end.
 */
must_check json_t *log_json_frame(const char *handle, const struct log_frame *f);
