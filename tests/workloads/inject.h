/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The parts of inject.c.  Each gets its own words, the first being its name. */
#ifndef TESTS_WORKLOADS_INJECT_H
#define TESTS_WORKLOADS_INJECT_H
#ifdef __cplusplus
extern "C" {
#endif

typedef int inject_part(int argc, char **argv);

/* inject_bind.c */
inject_part part_plt, part_data, part_dlsym, part_dlvsym, part_dlmopen, part_proc, part_entry, part_pointers, part_weak,
	part_plugin, part_reopen;
/* inject_args.c */
inject_part part_args;
/* inject_ends.c */
inject_part part_thread_exit, part_thread_gone, part_jump, part_killed, part_stuck;
/* inject_processes.c */
inject_part part_threads, part_sequence, part_fork, part_fork_inside, part_vfork, part_spawn, part_exec;
/* inject_same.c */
inject_part part_same, part_fds, part_environ;
/* inject_signal.c */
inject_part part_signal;
/* inject_stack.c */
inject_part part_backtrace;
/* inject_throw.cpp */
inject_part part_throw;

/* The word after the part's name as a number; 1 if there is none. */
int inject_count(int argc, char **argv);

/* N calls of cudaMalloc of 64 bytes, or of cuMemAlloc; exits with 1 if one fails. */
void inject_allocate(int n);
void inject_allocate_driver(int n);

/* Ends the program with a message if what must hold does not. */
void inject_must(int holds, const char *what);

#ifdef __cplusplus
}
#endif
#endif
