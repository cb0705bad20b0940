/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The library with a tool's probes, which the dynamic linker loads into the programs of the command. */
#ifndef INJECT_LIBRARY_H
#define INJECT_LIBRARY_H
#include <stdbool.h>

/* Returns the file with this tool's probes, in inject beside the tool, or in ../lib/cuda-bpf-tools/inject; the caller
 * frees it.  NULL if there is none that the dynamic linker can be told of, with the reason in *why, which the caller
 * frees. */
char *inject_library_find(char **why);

/* Return true if the environment names a tool that listens for this library already: its command is this tool, or what runs
 * it. */
bool inject_library_is_used(const char *library);

/* Has the command's dynamic linker load the library, after those that the user has, and tells it where the tool listens.
 * Call before command_go(). */
void inject_library_set(const char *library, const char *socket);

#endif
