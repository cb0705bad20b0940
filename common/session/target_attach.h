/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* From the first probe of a target to the last. */
#ifndef TARGET_ATTACH_H
#define TARGET_ATTACH_H

struct probe_source;
struct target;

/* Probes every function of these classes (a mask of 1 << CUDA_...), in the files mapped now
 * and in those mapped later; says so on standard error; starts the command.  With --list
 * prints the attach report and exits.  Exits with status 3 if a process given with -p has no
 * CUDA functions. */
void target_attach(struct target *t, unsigned classes);

/* The same for functions of another table. */
void target_attach_functions(struct target *t, const struct probe_source *source);

/* Takes every probe out.  Waits for the command, after sending it sig unless 0; the status to
 * exit with. */
int target_finish(struct target *t, int sig);

#endif
