/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The files that define CUDA functions, each scanned once. */
#ifndef PROBE_DSO_H
#define PROBE_DSO_H
#include <stdbool.h>
#include "elf/elf.h"
#include "proc/proc.h"

struct elf_scan;
struct probes;

struct dso {
	struct { unsigned long long dev, ino; } key;	/* as in struct mapping */
	char *path;		/* the first one it was seen under */
	int pid;		/* in this process; 0: the tool's user named it */
	struct elf_scan scan;	/* its probes: only those that the tool asked for */
	int runtime;		/* major version of the CUDA runtime that it is, or that is linked in; 0: not known */
	int driver;		/* COOKIE_DRIVER of its probes; 0: it has no functions of the driver */
	bool counted;		/* in p->nprobes and p->nfiles */
	int processes;		/* that have links of their own in it */
	bool linked_in;		/* static_runtime() has returned it */
	int said;		/* the last error of probing it, 0 if there was none */
};

/* Returns the file behind a mapping; opens and scans it the first time.  Never NULL; valid until
 * dso_free(). */
struct dso *dso_of_mapping(struct probes *p, int pid, const struct mapping *m);

/* Returns a file by name; NULL with errno set if it cannot be opened. */
struct dso *dso_of_file(struct probes *p, const char *path);

/* Returns an O_PATH descriptor; negative if the file is closed because it has nothing to probe
 * (-EBADF), or could not be read (-errno, see helper_call()). */
int dso_fd(const struct dso *d);

/* Return true if its file system is FUSE: probes for all processes could stop every fork on the machine. */
bool dso_on_fuse(const struct dso *d);

/* Return true if one of its probes is for a call that the tool shows, and not only to learn of others. */
bool dso_shows(const struct probes *p, const struct dso *d);

/* Closes and forgets every file.  Call when no file is probed any more. */
void dso_free(struct probes *p);

#endif
