/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The interface between a tool's BPF programs, compiled for the machine (agent/bpf), and the code that calls them in the
 * traced program (agent/inject).  Neither may call the C library, or touch a vector register. */
#ifndef AGENT_INJECT_PROGRAMS_H
#define AGENT_INJECT_PROGRAMS_H
#include <stdbool.h>
#include <asm/unistd.h>
#include <linux/types.h>
#include "abi/agent_inject.h"	/* INJECT_STUB_MAGIC */
#include "machine/freestanding.h"

#define LIKELY(x) __builtin_expect(!!(x), 1)

struct shmmap;
struct inject_thread;

/* The programs' side, written by scripts/gen_inject.  Each table ends with a NULL. */
struct inject_variable { const char *map; void *at; };	/* a map's variable in C: its first word becomes its struct shmmap_map * */
struct inject_section { const char *map; char *at; __u64 size; };	/* whole pages; the memory's are mapped over them */
struct inject_program { const char *name; int (*run)(void *ctx); };

extern const struct inject_variable inject_variables[];
extern const struct inject_section inject_sections[];
extern const struct inject_program inject_programs[];

/* The program cuda_session, which runs at each call: 1 at an entry whose return is not wanted.  regs: machine_regs. */
int inject_session(void *regs) __attribute__((visibility("hidden")));

/* Return true if a stub that was entered with this stack pointer, on the stack that the thread is on, has not returned.  sp: the
 * thread's.  May return false if a program has not run on that stack. */
bool inject_armed(__u64 entry, __u64 sp) __attribute__((visibility("hidden")));

/* The tool: ncclhang. */
extern const char inject_name[];

enum { INJECT_REST = 96 };	/* bytes: for struct inject_rest */

/* Set before a program runs, in its thread.  func_ip: the function's address, which is ctx's instruction pointer at the
 * entry and not at the return. */
struct inject_now {
	struct shmmap *shm;
	struct inject_thread *thread;
	/* the own memory, after INJECT_REST bytes: struct shmmap's own bytes; if other, none */
	char *own;
	const char *comm;		/* the process's: 16 bytes */
	const struct python_process *python;	/* of the process */
	__u64 stack;			/* of the first thread: an address near the beginning of its stack; else 0 */
	__u64 cookie, func_ip;
	bool here;			/* the thread was of this process, and has ended */
	bool other;			/* it is not the running one: neither its memory nor its stack is here */
	/* the programs' own: begun is false in a new thread or process, and once thread or shm is
	 * another one */
	bool begun;
	__u32 pages;			/* see struct inject_rest */
};
extern __thread struct inject_now inject_now __attribute__((tls_model("initial-exec")));

/* The ctx of a program of type iter/task (inflight_calls): it runs for inject_now.thread, which may be any, also of another
 * process, in a process that has not begun before each.  What it writes is appended. */
struct inject_each_call { char *at; __u64 size, used; };

/* The private memory of the thread with this element, which no other process can write; NULL if there is none.  It keeps the
 * data of an earlier thread. */
char *inject_own(__u32 index);

/* The element of the process: its index + 1; 0: it has none yet. */
extern __u32 inject_process_info;

/* CLOCK_MONOTONIC of the initial time namespace, ns. */
__u64 inject_clock_ns(void);

/* System calls, without the C library: errno stays the program's. */

static inline long sys4(long n, long a, long b, long c, long d)
{
	return sys6(n, a, b, c, d, 0, 0);
}

static inline long sys3(long n, long a, long b, long c)
{
	return sys6(n, a, b, c, 0, 0, 0);
}

/* Return true if this is what a system call that maps memory returns when it fails. */
static inline int sys_failed(long r)
{
	return (unsigned long)r > -4096ul;
}

/* Reads all of a file, or as much as there is room for.  Returns the bytes. */
static inline unsigned long sys_read_file(const char *path, char *to, unsigned long room)
{
	const int flags = 02004000;	/* O_CLOEXEC | O_NONBLOCK: elsewhere it may be a FIFO */
	long fd = sys4(__NR_openat, -100 /* AT_FDCWD */, (long)path, flags, 0), n = 1;
	unsigned long size = 0;

	if (fd < 0)
		return 0;
	while (n > 0 && size < room) {
		n = sys3(__NR_read, fd, (long)(to + size), (long)(room - size));
		size += n > 0 ? (unsigned long)n : 0;
	}
	sys3(__NR_close, fd, 0, 0);
	return size;
}

/* Return true if the word there can be read.  The kernel reads the signal mask before it rejects the operation (as in Abseil's
 * AddressIsReadable()). */
static inline bool sys_readable(const void *at)
{
	return sys4(__NR_rt_sigprocmask, ~0u >> 1, (long)at, 0, 8) == -22 /* EINVAL */;
}

/* Compilers call these. */
void *memcpy(void *to, const void *from, unsigned long n);
void *memmove(void *to, const void *from, unsigned long n);
void *memset(void *to, int byte, unsigned long n);
int memcmp(const void *a, const void *b, unsigned long n);

#endif
