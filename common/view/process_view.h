/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Processes as tools print them. */
#ifndef PROCESS_VIEW_H
#define PROCESS_VIEW_H

/* Prints "pid 4711 (train)" and, unless container is NULL, " in container 0123456789ab".  comm is untrusted. */
void process_text(int pid, const char *comm, const char *container);

#endif
