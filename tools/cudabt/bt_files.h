/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The files that a script probes, under names that can stand in it. */
#ifndef BT_FILES_H
#define BT_FILES_H
#include "cudabt/bt_script.h"
#include "probe/dso.h"

struct bt_files {
	struct dso **dsos;
	int *pids, n;		/* a process that has it mapped, or 0 */
};

/* False if it was there already. */
bool bt_files_add(struct bt_files *f, struct dso *c, int pid);

/* What the script is told of them, *n of them.  A script that is run gets each file by our own
 * descriptor, which stays open: a name could come to mean another file.  One that is to stay gets
 * names; a file without a name that means it (it was deleted or replaced), or whose name cannot be
 * written in a script, is left out with a message, and a name that a user who is not root can change
 * has a warning.  The caller's, for bt_files_named_free(). */
struct bt_file *bt_files_named(const struct bt_files *f, bool to_stay, int *n);
void bt_files_named_free(struct bt_file *files, int n);

/* The files themselves stay. */
void bt_files_free(struct bt_files *f);

#endif
