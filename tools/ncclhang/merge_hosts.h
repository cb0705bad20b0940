/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Reads what ncclhang --json has printed on several hosts, and judges it as a whole. */
#ifndef NCCLHANG_MERGE_HOSTS_H
#define NCCLHANG_MERGE_HOSTS_H

/* Reads the files, and prints each communicator.  Exits 1 if a file cannot be read, or a line is none of ncclhang's. */
void merge_files(char **files, int n);

#endif
