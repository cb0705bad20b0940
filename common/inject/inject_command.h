/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The library with a tool's probes, and the commands that the dynamic linker can load it into. */
#ifndef INJECT_INJECT_COMMAND_H
#define INJECT_INJECT_COMMAND_H
#include <stdbool.h>
#include <sys/types.h>

struct helper_pool;

/* Returns why the command, run by that user, cannot be traced with --attach inject: "./train is statically linked"; NULL if
 * it can, or if that cannot be read before it runs.  The caller frees it.  text is for a shell unless argv is not NULL. */
char *inject_command_refusal(struct helper_pool *l, const char *text, char **argv, uid_t user);

/* Returns the file with this tool's probes, in inject beside the tool, or in ../lib/cuda-bpf-tools/inject; the caller
 * frees it.  NULL with the reason in *why, which the caller frees, if there is none or LD_AUDIT cannot name it. */
char *inject_library_find(char **why);

/* Return true if the environment names a tool that listens for this library already: its command is this tool, or what runs
 * it. */
bool inject_library_is_used(const char *library);

/* Has the command's dynamic linker load the library, after those that the user has, and sets where the tool listens.
 * Call before command_go(). */
void inject_library_set(const char *library, const char *socket);

#endif
