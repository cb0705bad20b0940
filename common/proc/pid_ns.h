/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Process ids in pid namespaces other than ours. */
#ifndef PID_NS_H
#define PID_NS_H
#include <stdbool.h>

/* Which processes have this number in a pid namespace other than ours: as text, "4711" or "4711 or
 * 4712", the caller's; NULL if none. */
char *pid_outside(int inner);

/* Return false if the tool itself is in a container: it would not know a process that a probe
 * names. */
bool pid_ns_is_initial(void);

#endif
