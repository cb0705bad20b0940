/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* --patch: a copy of a program or library whose PTX has the probes already. */
#ifndef FILE_PATCH_H
#define FILE_PATCH_H
#include "cudamemtime/measure.h"

struct file_patch {
	const char *in, *out;
};

/* Writes the copy, with the mode of the file; containers stay where they are, which they fit in as machine code is
 * left out.  Returns the status to exit with: 3 if there was nothing to change. */
int file_patch(const struct file_patch *patch, struct measure *m);

#endif
