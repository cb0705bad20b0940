/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The memory that the library in a program (agent/gputime) shares with the tools that measure GPU time.
 *
 * The library makes it when the program calls cuInit(): a memfd of GPUTIME_BYTES with the name GPUTIME_NAME, sealed against
 * shrinking and growing, of which one page is used until a tool asks or GPUTIME_ON is set.  A tool finds it among the program's
 * descriptors and takes the place of one tool: a write lock on the byte of its number (fcntl(2): an open file description lock).
 * It asks by writing there, and rings the bell.  The kernel drops the lock when the tool ends, however it does: then the library
 * stops writing for it, and switches itself off with the last one.
 *
 * The program may write anything here: the tool checks all that it reads, and copies it before.  The library trusts
 * nothing that the tool writes except that it may be on. */
#ifndef ABI_AGENT_GPUTIME_H
#define ABI_AGENT_GPUTIME_H

#define GPUTIME_NAME "cuda-bpf-tools-gputime"
#define GPUTIME_MAGIC "GPUTIME"	/* and the 0 behind it */

/* Variables of a tool's command: "WANT:PID", flags, enum gputime_want, with which the library begins at once if the tool of
 * that process id lives; and what CUDA_INJECTION64_PATH named before, which the library loads and calls. */
#define GPUTIME_ON "CUDA_BPF_TOOLS_GPUTIME"
#define GPUTIME_NEXT "CUDA_BPF_TOOLS_INJECTION64_PATH"

enum gputime_want {
	GPUTIME_KERNELS = 1, GPUTIME_COPIES = 2,
	GPUTIME_NODES = 4,	/* each kernel of a graph, not each launch of it */
	GPUTIME_LAUNCHES = 8, GPUTIME_COPY_CALLS = 16,	/* the calls that launch, and that copy and set */
};

enum gputime_state {
	GPUTIME_OFF, GPUTIME_STARTING, GPUTIME_IS_ON,
	GPUTIME_NO_CUPTI,	/* there is none, or a version that is not known: version */
	GPUTIME_IN_USE,		/* another one in the program uses it */
	GPUTIME_REFUSED,	/* CUPTI returned error */
	GPUTIME_NO_THREAD,	/* the library could not start its thread */
	GPUTIME_CLOSED,		/* the program has closed the library's descriptor */
	GPUTIME_STATES
};

/* Tools at a time.  The first place is for the tool whose command the program is: GPUTIME_ON. */
enum { GPUTIME_TOOLS = 4 };

struct gputime_tool {
	/* written by the tool */
	unsigned int generation __attribute__((aligned(64)));	/* another one with each tool; of a command's first: 1 */
	unsigned int want;		/* enum gputime_want */
	unsigned long long run_ns, of_ns;	/* on for run_ns of each of_ns; 0: always */
	unsigned long long read;	/* records so far */
	/* written by the library */
	unsigned int serving __attribute__((aligned(64)));	/* the generation for which it writes, or has written */
	unsigned int serves;		/* want, as served; 0 only when all has been written */
	unsigned long long first;	/* record of this generation */
	unsigned long long written;	/* records so far, of all generations */
	unsigned long long dropped;	/* records for which there was no room */
};

struct gputime_control {
	char magic[8];			/* GPUTIME_MAGIC */
	unsigned int bytes;		/* sizeof(struct gputime_control) */
	unsigned int slots;		/* GPUTIME_SLOTS */
	int pid;			/* of the program, in its own pid namespace */
	unsigned int bell __attribute__((aligned(64)));	/* a futex: counted up by a tool that has changed something */
	/* written by the library */
	unsigned int state __attribute__((aligned(64)));	/* enum gputime_state */
	int error;			/* a CUptiResult */
	unsigned int version;		/* cuptiGetVersion() */
	unsigned int whole_graphs;	/* launches of graphs are measured as a whole, whatever is wanted: CUPTI cannot go back */
	unsigned long long dropped;	/* records that CUPTI has dropped */
	unsigned long long unknown;	/* records of other kinds */
	unsigned long long untimed;	/* runs whose time CUPTI does not know, such as those that still ran when it was switched off */
	long long clock;		/* CLOCK_MONOTONIC - CUPTI's clock, ns */
	struct gputime_tool tools[GPUTIME_TOOLS];
};

/* Bytes of a name: in one record, and at most; names that are told apart. */
enum { GPUTIME_PART = 40, GPUTIME_NAME_MAX = 8192, GPUTIME_NAMES = 1 << 16 };

enum gputime_kind { GPUTIME_KERNEL = 1, GPUTIME_GRAPH, GPUTIME_COPY, GPUTIME_SET, GPUTIME_CALL, GPUTIME_TEXT };

struct gputime_record {
	unsigned int kind;		/* enum gputime_kind */
	unsigned int name;		/* of a kernel: a number that GPUTIME_TEXT has told before; 0: none */
	union {
		struct {
			unsigned long long start, end;	/* by CUPTI's clock, ns */
			unsigned int device, context, stream, correlation;	/* CUPTI's numbers */
			unsigned int graph;	/* CUPTI's number; 0: none */
			unsigned int copy;	/* CUpti_ActivityMemcpyKind */
			unsigned long long bytes;
		};
		struct {
			unsigned long long start, end;
			unsigned int thread;	/* its id in the program's own pid namespace */
			unsigned int correlation;	/* of what it has launched */
		} call;
		struct {
			unsigned int size, at;	/* of the whole name, and of this part in it */
			char part[GPUTIME_PART];
		} text;
	};
};

/* A ring for each tool, from a page's beginning also where pages are the largest.  One writer, one reader; record i is at slot i % GPUTIME_SLOTS. */
enum { GPUTIME_SLOTS = 1 << 16, GPUTIME_FIRST = 1 << 16 /* byte of the first ring */ };
#define GPUTIME_RING (GPUTIME_SLOTS * sizeof(struct gputime_record))
#define GPUTIME_BYTES (GPUTIME_FIRST + GPUTIME_TOOLS * GPUTIME_RING)

_Static_assert(sizeof(struct gputime_record) == 56, "the same in both");
_Static_assert(sizeof(struct gputime_control) <= 4096, "one page");
_Static_assert(GPUTIME_RING % GPUTIME_FIRST == 0, "whole pages");

#endif
