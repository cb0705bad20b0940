/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Which commands the dynamic linker cannot load a library into. */
#ifndef INJECT_COMMAND_H
#define INJECT_COMMAND_H
#include <sys/types.h>

struct helper_pool;

/* Returns why the command, run by that user, cannot be traced with --attach inject: "./train is statically linked"; NULL if
 * it can, or if that cannot be read before it runs.  The caller frees it.  text is for a shell unless argv is not NULL. */
char *inject_command_refusal(struct helper_pool *l, const char *text, char **argv, uid_t user);

#endif
