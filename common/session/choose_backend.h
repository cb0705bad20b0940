/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* How a target's probes are attached. */
#ifndef SESSION_CHOOSE_H
#define SESSION_CHOOSE_H

struct session;

/* Sets the attach kind: what --attach says, or the best that the kernel has and permits, or else, of a command, --attach
 * inject, and says so.  Exits with the reason if there is none. */
void session_choose_backend(struct session *t);

#endif
