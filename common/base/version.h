/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H

#define VERSION "0.1.0"

/* Returns the commit that the tool was built from, as scripts/revision prints it: a constant. */
const char *version_revision(void);

/* Prints what --version says: the tool, its version and revision, libbpf and the running kernel. */
void version_print(void);

#endif
