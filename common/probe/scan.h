/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Looks into processes, and where libraries lie, for files with CUDA functions, and probes them.
 * After each of these p->failure may be set: then the tool is to end with that. */
#ifndef SCAN_H
#define SCAN_H
#include <stdbool.h>

struct probes;

/* Probes what a process has mapped: the number of its files that use CUDA.  If there is none and
 * something could not be looked into, -EACCES or -EPERM. */
int scan_process(struct probes *p, int pid);

/* The same for a process that has been reported to do something new.  Fails if it is the command of
 * -c and may not be looked into; of others it is said, once. */
void scan_watched(struct probes *p, int pid);

/* The same for every process that has libcuda or libcudart mapped. */
void scan_all(struct probes *p);

/* Return true if this is a mapping of libcuda or libcudart.  A program that calls CUDA has one,
 * once it has made its first call. */
bool scan_is_cuda(const char *path);

/* Probes the libraries that programs are likely to load yet, so that none of their calls is
 * missed, in the processes of -p, or in all. */
void scan_installed(struct probes *p);

/* Probes a file of this name there.  False if it cannot, or there is nothing to probe: if
 * p->failure is not set, that was said. */
bool scan_lib(struct probes *p, const char *path);

/* What is missing when scan_process() has returned this: ends the sentence that says so.  The
 * caller's to free(). */
char *scan_refusal(int err);

#endif
