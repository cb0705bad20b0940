/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Searches processes and library directories for files with CUDA functions, and probes them.
 * Each of these functions may set p->failure: then the tool must exit with it. */
#ifndef PROBE_SCAN_H
#define PROBE_SCAN_H
#include <stdbool.h>

struct probes;

/* Probes the files that a process has mapped.  Returns how many of them use CUDA; if none does and
 * something could not be read, -EACCES, -EPERM or an error of err_is_transient(): then the process is
 * scanned again later. */
int scan_process(struct probes *p, int pid);

/* The same for a process for which an event was reported.  Sets p->failure if it is the command of
 * -c and may not be inspected; for other processes warns once. */
void scan_watched(struct probes *p, int pid);

/* The same for every process that has libcuda or libcudart mapped. */
void scan_all(struct probes *p);

/* Returns the major version of the CUDA runtime, 12, that a process has mapped as a library; 0 if it has
 * none, or if it has ended. */
int scan_runtime(struct probes *p, int pid);

/* Return true if this path names libcuda or libcudart.  A program that uses CUDA has mapped one by
 * the time of its first call. */
bool scan_is_cuda(const char *path);

/* Probes the libraries that programs are likely to load later, so that none of their calls is
 * missed, in the processes of -p, or in all. */
void scan_installed(struct probes *p);

/* Returns the driver's library in one of the directories that scan_installed() searches, or NULL.  The caller
 * frees it. */
char *scan_installed_driver(void);

/* Probes the file of this name in the same processes.  Returns false if it cannot, or if there is
 * nothing to probe: then p->failure is set, or a warning was printed. */
bool scan_lib(struct probes *p, const char *path);

/* Returns which privilege is missing when scan_process() has returned this error, as the end of a
 * message.  The caller frees it. */
char *scan_refusal(int err);

/* Returns a file of the process with a CUDA runtime linked in, of which functions are wanted that only the kernel's probes
 * could see; each file once.  NULL if there is none.  The path lives as long as the file's struct dso. */
const char *static_runtime(struct probes *p, int pid);

#endif
