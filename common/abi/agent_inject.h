/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The memory that a tool shares with its probes in the programs of its command (--attach inject), and what both send
 * each other when it is handed over.
 *
 * The memory is one memfd: a head, then the maps of the tool's BPF object, each at a whole page.  A program can write
 * anything into it at any time.  So either side copies the head once, checks the copy, and keeps places and sizes in
 * memory of its own (shm/shm.h).  All programs of a command map the same memory.
 *
 * Data that programs act upon (the head, the functions and their names, read-only maps) is in a second memfd, in which
 * it is at the same addresses, and which is sealed: no program can write to it. */
#ifndef ABI_AGENT_INJECT_H
#define ABI_AGENT_INJECT_H
#include <linux/types.h>
#include "abi/python_frames.h"
#include "machine/page.h"

/* The environment variable: for each tool that waits for the program NAME=SOCKET, separated by spaces; NAME is the
 * tool's BPF object (cudaleak), SOCKET the abstract name of a Unix socket (SOCK_SEQPACKET) without its leading 0. */
#define INJECT_SOCKETS "CUDA_BPF_TOOLS_INJECT"

/* A tunable of glibc since 2.32: bytes of static TLS in its surplus for libraries that are loaded
 * later. */
#define STATIC_TLS_TUNABLE "glibc.rtld.optional_static_tls="
enum { STATIC_TLS_DEFAULT = 512 };

enum {
	INJECT_VERSION = 6,
	INJECT_PAGE = LARGEST_PAGE,	/* whatever the kernel's is: the libraries' sections are aligned to it */
	INJECT_MAPS = 48,
	INJECT_MAP_NAME = 32,
	INJECT_THREADS = 32768,		/* at a time, of every program */
	INJECT_FUNCTIONS = 4096,
	INJECT_PATH = 4096,
};

/* A map of the BPF object: BPF's own types.  A data section (.rodata, .bss, .data.lost) is an array of one element. */
struct inject_map {
	char name[INJECT_MAP_NAME];	/* as in the object */
	__u32 type;			/* BPF_MAP_TYPE_ARRAY, HASH, PERCPU_HASH, PERCPU_ARRAY, TASK_STORAGE, RINGBUF */
	__u32 key_size, value_size, max_entries;
	__u64 at, bytes;		/* in the memory */
	__u64 fixed;			/* not 0: read-only for programs, from the sealed memfd */
};

enum inject_function_flags {
	INJECT_RETURNS = 1,		/* its return may be wanted */
	INJECT_OFF = 2,			/* not probed now: the tool changes this while it traces, in the shared memory */
	INJECT_OUTERMOST = 4,		/* a call inside one of another function with this flag is ignored */
	INJECT_STACK_SHIFT = 8,		/* these bits: 1 + 8-byte words of its arguments on the stack; 0: unknown; all: it has */
	INJECT_STACK_MASK = 0xff,	/* a variable number of them */
};

/* A function to probe, sorted by name (strcmp). */
struct inject_function {
	__u32 name;			/* offset of its name, ended by 0, from names_at */
	__u32 id;			/* what bpf_get_attach_cookie() is */
	__u32 lib;			/* enum cuda_lib */
	__u32 flags;
};

/* In the tid of an element of struct inject_thread: it is no thread's, but what is kept of its process, as the storage that
 * the programs have at the first thread, which may make no call. */
#define INJECT_OF_PROCESS 0x80000000u

/* In the tid of an element whose thread has ended: its elements are still to be freed. */
#define INJECT_LEFT 0x40000000u

/* For inject_run(), which the tool's helper process calls in the library: a program for each thread. */
struct inject_run {
	int memory, fixed;	/* descriptors: of the memory, and of the part that is not written */
	__u64 bytes;		/* its size */
	const char *program;
	__u32 pid, tid;		/* those of this process, or this thread; 0: of all */
};

/* A thread in a traced program; its element of each map of type TASK_STORAGE has the same index.  Changed only by the
 * thread itself while state is its own, except the tool, which frees those of processes that have ended. */
struct inject_thread {
	__u32 tid;			/* 0: free.  As the program sees it: other than the tool does in another PID namespace */
	__u32 pid;			/* as the tool sees it */
	__u32 parent;			/* the process that forked this one, as far as known; 0: not */
	__u32 used;			/* bit n: map n has storage of this thread */
	__u64 start_time;		/* of the thread, CLOCK_MONOTONIC, ns: about */
	__u64 self;			/* a thread's pthread_self() */
	char comm[16];
	__u32 uid;
	__u32 busy;			/* not 0: it runs a program of the tool's; see bmaps_settle() */
	__u32 named;			/* set by the tool: comm is the thread's; until then it is the process's */
	__u32 marks;			/* set by the tool: enum inject_marks */
};

/* The tool's view of a process, in each of its threads' elements. */
enum inject_marks {
	INJECT_FILTERED = 1,		/* it has a seccomp filter that it had not at its start: the library makes no system call
					 * there that may end it */
	INJECT_OTHER_USER = 2,		/* it has another user than it had: it is to leave the memory */
	INJECT_PYTHON = 4,		/* it runs Python, of which it learns by the answer to a message */
};

struct inject_head {
	__u32 version, lanes;		/* lanes: what BPF programs have one element per CPU for: libbpf_num_possible_cpus() */
	__u64 bytes;			/* of the memory */
	__u32 maps, functions;
	__u64 functions_at, names_at, names_bytes;
	__u64 threads_at;		/* INJECT_THREADS of struct inject_thread */
	__u32 threads_used;		/* elements that were ever taken */
	__u32 threads_free;		/* from where on a free one is likely to be found */
	__u32 ended;			/* set by the tool: probes do nothing any more */
	__u64 ticks;			/* the tool's clock, ms, as it was some milliseconds ago: to read one takes longer than to count */
	struct inject_map map[INJECT_MAPS];
};

/* The descriptors that come with the answer to INJECT_HELLO: the shared memory, to write and to read only, and the sealed
 * one. */
enum inject_shared_memory { INJECT_SHARED, INJECT_READ, INJECT_FIXED, INJECT_MEMORIES };

/* Message of a program: the connection is closed after the answer. */
enum inject_kind {
	INJECT_HELLO = 1,		/* first of a program (after exec too): answered with enum inject_shared_memory */
	INJECT_FORKED,			/* first of a process that was forked: answered with them, too */
	INJECT_BOUND,			/* a library has functions that are probed now, and its path follows; functions = 0:
					 * all is there that is loaded with the first CUDA library */
	INJECT_SAYS,			/* text follows: what cannot be probed, and why */
	INJECT_CHANGED,			/* other objects are loaded than before */
};

struct inject_message_head {
	__u32 version, kind;
	__s32 pid;			/* as the program sees it */
	__s32 parent;			/* INJECT_FORKED: the process it is a copy of, as the tool sees it */
	__u32 functions;		/* INJECT_BOUND: how many */
	__u32 size;			/* bytes that follow: at most INJECT_PATH */
};

/* The tool's answer, when it has read what it needs of the program (its mappings). */
struct inject_answer {
	__u32 version;
	__s32 pid;			/* as the tool sees it; -1: go on without probes */
	__u64 bytes;			/* of the memory */
	__u32 leave;			/* not 0: name the tool to Yama, so that its children may read the program's memory */
	__u32 uid;			/* the process's */
	char comm[16];			/* the process's */
	struct python_process python;	/* runtime and loss are 0: it does not run Python, as far as is known yet */
};

/* While the return of a call is awaited, the word STUB_MARK bytes (machine/stub_frame.h) below the stack pointer at its entry
 * is this ^ that stack pointer. */
#define INJECT_STUB_MAGIC 0x6375646162706621ULL

#endif
