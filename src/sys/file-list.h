/* Names in a directory. */
#pragma once

struct strv;

/*
 * Adds those that begin with `prefix`, in no order and as many as *ret takes. A directory that is
 * not there (-1) or cannot be read has none. It is opened anew: its descriptor keeps its place.
 */
void file_list_at(int dir, const char *prefix, struct strv *ret);
