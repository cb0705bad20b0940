/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Private to dso.c. */
#ifndef DSO_SCAN_H
#define DSO_SCAN_H
#include <stdbool.h>

struct elf_scan;
struct probes;

/* Sets *scan to what p->source finds in the file behind an O_PATH descriptor, by a look on behalf of
 * process pid, and *layered if it is on overlayfs.  Returns 0 or the error of look(). */
int dso_scan(const struct probes *p, int pid, const char *path, int fd, struct elf_scan *scan,
	     bool *layered);

#endif
