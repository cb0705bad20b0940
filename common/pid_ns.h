/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Process ids in pid namespaces other than ours. */
#ifndef PID_NS_H
#define PID_NS_H

/* Which processes have this number in a pid namespace of their own: as text, "4711" or "4711 or
 * 4712", the caller's; NULL if none. */
char *pid_outside(int inner);

#endif
