/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Files that are installed with the tool. */
#ifndef PROC_INSTALLED_H
#define PROC_INSTALLED_H

/* Finds a file in a folder ("", "/inject") beside the tool, or of ../lib/cuda-bpf-tools; file NULL: the one named like the
 * tool, with .so at its end.  forbidden: characters with which `variable` cannot name it.  Returns its path, or NULL with the
 * reason in *why; the caller frees both. */
char *beside_find(const char *folder, const char *file, const char *variable, const char *forbidden, char **why);

#endif
