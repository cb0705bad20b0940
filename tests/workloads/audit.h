/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The parts of audit.c.  Each gets its own words, the first being its name. */
#ifndef AUDIT_PARTS_H
#define AUDIT_PARTS_H
#ifdef __cplusplus
extern "C" {
#endif

typedef int audit_part(int argc, char **argv);

/* audit_bind.c */
audit_part part_plt, part_data, part_dlsym, part_dlvsym, part_dlmopen, part_proc, part_entry, part_pointers, part_weak,
	part_plugin, part_reopen;
/* audit_args.c */
audit_part part_args;
/* audit_ends.c */
audit_part part_thread_exit, part_thread_gone, part_jump, part_killed, part_stuck;
/* audit_processes.c */
audit_part part_threads, part_sequence, part_fork, part_fork_inside, part_vfork, part_spawn, part_exec;
/* audit_same.c */
audit_part part_same, part_fds, part_environ;
/* audit_signal.c */
audit_part part_signal;
/* audit_stack.c */
audit_part part_backtrace;
/* audit_throw.cpp */
audit_part part_throw;

/* The word after the part's name as a number; 1 if there is none. */
int audit_count(int argc, char **argv);

/* N calls of cudaMalloc of 64 bytes, or of cuMemAlloc; exits with 1 if one fails. */
void audit_allocate(int n);
void audit_allocate_driver(int n);

/* Ends the program with a message if what must hold does not. */
void audit_must(int holds, const char *what);

#ifdef __cplusplus
}
#endif
#endif
