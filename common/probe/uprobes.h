/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The probes in files, for one process each or for all. */
#ifndef UPROBES_H
#define UPROBES_H
#include <stdbool.h>

struct dso;
struct probes;

/* Probes the file's functions in process pid, or everywhere (0); with p->linkers a dynamic
 * linker's too, to learn of libraries.  Does nothing if they are in, or if there is nothing to
 * probe.  0, or -errno if the kernel refuses, or -LINK_POOL_NO_THREAD. */
int uprobes_attach(struct probes *p, struct dso *d, int pid);

/* Probes that toggle (struct function) go in with the others.  This takes them out, some time
 * soon, or puts them in again; false if that has to wait, as they are still being taken out. */
bool uprobes_toggle(struct probes *p, bool in);

/* Return true if some of them are in. */
bool uprobes_toggled_in(const struct probes *p);

/* Takes the probes of a process that ended out, some time; or (-1) all, now, for good. */
void uprobes_detach(struct probes *p, int pid);

#endif
