/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The files that hold CUDA functions, each looked into once, and the probes in them. */
#ifndef CODE_H
#define CODE_H
#include <stdbool.h>
#include "probe/attach.h"
#include "elf/elf.h"
#include "proc/proc.h"

struct target;

struct dso {
	struct { unsigned long long dev, ino; } key;	/* as in struct mapping */
	char *path;		/* the first that it was seen under */
	struct elf_scan scan;	/* its probes: those that the tool asked for */
	bool counted;		/* in the target's figures */
};

/* The file behind a mapping; it is opened and read the first time.  Never NULL. */
struct dso *dso_of_mapping(const struct target *t, int pid, const struct mapping *m);

/* A file by name; NULL if it cannot be opened, with errno set. */
struct dso *dso_of_file(const struct target *t, const char *path);

/* The file, open to read; negative if it is not, as there is nothing to probe in it. */
int dso_fd(const struct dso *c);

/* ---- place.c: the probes */

/* Probes the file's functions in process pid, or everywhere (0); with -c a dynamic linker's
 * too, to learn of libraries.  Does nothing if they are in, or if there is nothing to probe.
 *  0, or -errno if the kernel refuses. */
int uprobes_attach(struct target *t, struct dso *c, int pid);

/* Probes that are apart (struct function) go in with the others.  This takes them out, some time
 * soon, or puts them in again; false if that has to wait, as they are still being taken out. */
bool uprobes_toggle(const struct target *t, bool in);

/* Are some of them in? */
bool uprobes_toggled_in(void);

/* Takes the probes of a process that ended out, some time; or (-1) all, now, for good. */
void uprobes_detach(int pid);

#endif
