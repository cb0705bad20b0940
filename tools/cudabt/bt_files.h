/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The files that a script probes, and the names it uses for them. */
#ifndef BT_FILES_H
#define BT_FILES_H
#include "cudabt/bt_script.h"
#include "probe/dso.h"

struct bt_files {
	struct dso **dsos;
	int *pids, n;		/* a process that has the file mapped, or 0 */
};

/* Returns false if the file was already there. */
bool bt_files_add(struct bt_files *f, struct dso *c, int pid);

/* Names the files for a script, *n of them.  A script that is run refers to a stand-in of each
 * file, in the order of f: see bt_uprobes.h.  A script to be kept (to_stay) uses names: a file that
 * no name refers to (it was deleted or replaced), or whose name cannot be written in a script, is
 * skipped with a message, and a name that a non-root user can redirect gets a warning.  Free the
 * result with bt_files_named_free(). */
struct bt_file *bt_files_named(const struct bt_files *f, bool to_stay, int *n);
void bt_files_named_free(struct bt_file *files, int n);

/* Does not free the files themselves. */
void bt_files_free(struct bt_files *f);

#endif
