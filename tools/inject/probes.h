/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Between a tool's BPF programs, compiled for the machine they run on, and the code that calls them in the traced
 * program (rtld-audit(7)).  Nothing here or there may call the C library, or touch a vector register. */
#ifndef INJECT_PROBES_H
#define INJECT_PROBES_H
#include <stdbool.h>
#include <linux/types.h>
#include "abi/inject.h"	/* INJECT_STUB_MAGIC */

#define LIKELY(x) __builtin_expect(!!(x), 1)

struct shmmap;
struct inject_thread;
struct task_struct;

/* The programs' side.  Each table ends with a NULL. */
struct inject_variable { const char *map; void *at; };	/* a map's variable in C: its first word becomes its struct shmmap_map * */
struct inject_section { const char *map; char *at; __u64 size; };	/* whole pages; the memory's are mapped over them */
struct inject_program { const char *name; int (*run)(void *ctx); };

extern const struct inject_variable inject_variables[];
extern const struct inject_section inject_sections[];
extern const struct inject_program inject_programs[];

/* That of the name cuda_session, which runs at each call: 1 at an entry whose return is not wanted. */
struct pt_regs;
int inject_session(struct pt_regs *regs) __attribute__((visibility("hidden")));

/* The tool's BPF object: cudaleak. */
extern const char inject_name[];

/* Set before a program runs, in its thread.  func_ip: the function's address, which is ctx's instruction pointer at the
 * entry and not at the return. */
struct inject_now {
	struct shmmap *shm;
	struct inject_thread *thread;
	char *own;			/* the thread's own memory: struct shmmap's own bytes */
	const char *comm;		/* the process's: 16 bytes */
	const struct python_process *python;	/* of the process */
	__u64 stack;			/* of the first thread: an address near its stack's beginning; 0: another thread */
	struct task_struct *task;	/* the programs' own, by the thread's first program: NULL in a new thread or process,
					 * and once thread or shm is another one */
	__u64 cookie, func_ip;
	bool here;			/* the thread was of this process, and has ended */
	bool other;			/* it is not the one that runs: neither its memory nor its stack is here */
};
extern __thread struct inject_now inject_now __attribute__((tls_model("initial-exec")));

/* The ctx of a program of type iter/task (inflight_calls): it runs for inject_now.thread, which may be any, also of another
 * process, in a process that has task NULL before each.  What it writes is appended. */
struct inject_each_call { char *at; __u64 size, used; };

/* The memory of whoever has this element, which no other process can write; NULL if there is none.  What an earlier thread
 * left there stays. */
char *inject_own(__u32 index);

/* The element of the process: its index + 1; 0: it has none yet. */
extern __u32 inject_process_info;

/* CLOCK_MONOTONIC, ns. */
__u64 inject_clock_ns(void);

/* What compilers call by themselves. */
void *memcpy(void *to, const void *from, unsigned long n);
void *memmove(void *to, const void *from, unsigned long n);
void *memset(void *to, int byte, unsigned long n);
int memcmp(const void *a, const void *b, unsigned long n);

#endif
