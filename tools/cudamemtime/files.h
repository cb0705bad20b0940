/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* --list: prints the sites in a file that would be measured.  --patch: writes a copy of a program or library with probes in
 * its PTX. */
#ifndef CUDAMEMTIME_FILES_H
#define CUDAMEMTIME_FILES_H
#include "cudamemtime/measure.h"

struct file_list {
	const char *path;
	const char *arch;	/* "sm_90", of --arch; NULL: the PTX's own */
};

struct file_patch {
	const char *in, *out;
};

/* Prints the sites; with -v, also the cost of probes by ptxas.  Returns the exit status: 3 if the file has no PTX. */
int file_list(const struct file_list *list, struct measure *m);

/* Writes the copy, with the mode of the file.  Containers stay in place: they fit because machine code is left out.
 * Returns the exit status: 3 if there was nothing to change. */
int file_patch(const struct file_patch *patch, struct measure *m);

#endif
