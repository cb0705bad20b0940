/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Private to dso.c. */
#ifndef DSO_SCAN_H
#define DSO_SCAN_H
#include <stdbool.h>

struct dso;
struct probes;

/* Sets d->scan to what p->source finds in the file behind an O_PATH descriptor, by a look, and
 * *layered if it is on overlayfs.  Returns 0 or the error of look(). */
int dso_scan(struct probes *p, struct dso *d, int fd, bool *layered);

#endif
