/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Opening a file for output, as root, in a directory where others may have put something under its
 * name before. */
#ifndef CLI_OUT_FILE_H
#define CLI_OUT_FILE_H
#include <stdbool.h>
#include <stdio.h>

/* Creates the file, for its owner alone (0600), or truncates it.  Exits 1 with the reason rather than
 *  - follow a link of another user, anywhere in the path;
 *  - write to what it finds in a directory that others can write to, unless that is the caller's or
 *    root's, and has no other name.
 * The caller is also the user who called sudo.
 * Devices, FIFOs and /dev/stdout work by the same rules.  Returns a descriptor for writing, which the
 * caller closes. */
int out_file_open(const char *path);

/* The same as a stream. */
FILE *out_file_stream(const char *path);

/* Closes the stream.  On a write error warns and returns false. */
bool out_file_close(FILE *f, const char *path);

/* The same; on a write error also removes the file, if it is a regular one. */
bool out_file_close_or_remove(FILE *f, const char *path);

#endif
