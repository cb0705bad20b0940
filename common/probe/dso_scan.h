/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Private to dso.c. */
#ifndef DSO_SCAN_H
#define DSO_SCAN_H
#include <stdbool.h>

struct elf_scan;
struct probes;

/* A file, and the process it is mapped in.  The file must be open as long as a look at it may go on:
 * then there is no other with the same device and inode number. */
struct dso_scan {
	unsigned long long dev, ino;
	int pid;
	const char *path;
};

/* Where it is. */
struct dso_place {
	bool layered;		/* on overlayfs */
	bool fuse;		/* on FUSE, below overlayfs too */
};

/* Sets *scan to what p->source finds in the file behind an O_PATH descriptor, and *place, by a look.
 * Returns 0 or the error of helper_call(). */
int dso_scan(const struct probes *p, const struct dso_scan *file, int fd, struct elf_scan *scan,
	     struct dso_place *place);

#endif
