/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A process is its thread group.  Its first thread may end before the others (pthread_exit(3) in
 * main): then /proc/PID/maps, map_files, exe, root, fd, environ and ns are empty, its status has
 * State Z, and process_vm_readv(2) finds no memory.  /proc/TID of another thread still has all
 * of it: fs/proc/base.c looks up any thread. */
#ifndef PROC_LIVING_H
#define PROC_LIVING_H
#include <stdbool.h>
#include <stddef.h>

/* Returns the thread by which the kernel shows the process's memory and files: the first, or if
 * that has ended another one; pid too if none lives.  It may end at any time.  Opens no file. */
int proc_living(int pid);

/* Return true if the process lives on without its first thread. */
bool proc_is_leaderless(int pid);

/* Reads a field of the status of a thread or, by its first one, a process (proc_pid_status(5)): "Uid".  Returns what follows the
 * colon, in line, which is cut at size; NULL if the thread is gone or the kernel has no such field. */
char *proc_status(int tid, const char *field, char *line, size_t size);

#endif
