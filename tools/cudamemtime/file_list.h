/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* --list: the places in a file that would be measured, without running it. */
#ifndef FILE_LIST_H
#define FILE_LIST_H
#include "cudamemtime/measure.h"

struct file_list {
	const char *path;
	const char *arch;	/* "sm_90", of --arch; NULL: the PTX's own */
};

/* Prints them; with -v, what the probes cost each kernel by ptxas.  Returns the status to exit with: 3 if the file
 * has no PTX. */
int file_list(const struct file_list *list, struct measure *m);

#endif
