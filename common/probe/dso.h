/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The files that hold CUDA functions, each looked into once. */
#ifndef DSO_H
#define DSO_H
#include <stdbool.h>
#include "elf/elf.h"
#include "proc/proc.h"

struct probes;

struct dso {
	struct { unsigned long long dev, ino; } key;	/* as in struct mapping */
	char *path;		/* the first that it was seen under */
	struct elf_scan scan;	/* its probes: those that the tool asked for */
	bool counted;		/* in p->nprobes and p->nfiles */
};

/* The file behind a mapping; it is opened and read the first time.  Never NULL; lives until
 * dso_free(). */
struct dso *dso_of_mapping(struct probes *p, int pid, const struct mapping *m);

/* A file by name; NULL if it cannot be opened, with errno set. */
struct dso *dso_of_file(struct probes *p, const char *path);

/* The file, open to read; negative if it is not, as there is nothing to probe in it. */
int dso_fd(const struct dso *d);

/* Closes and forgets every file, when none is probed any more. */
void dso_free(struct probes *p);

#endif
