/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Process ids in PID namespaces other than ours. */
#ifndef PROC_PID_NS_H
#define PROC_PID_NS_H
#include <stdbool.h>

/* Returns the processes with this pid in a PID namespace other than ours, as text: "4711" or "4711
 * or 4712"; NULL if there is none.  The caller frees it. */
char *pid_outside(int inner);

/* Returns the pid that a process has in its own PID namespace; 0 if it is gone. */
int pid_in_namespace(int pid);

/* Return false if the tool itself runs in a PID namespace (container), where it cannot resolve the
 * pids that probes report. */
bool pid_ns_is_initial(void);

#endif
