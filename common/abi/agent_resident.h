/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The memory by which a tool asks a running program that has inject/resident.so (agent/resident)
 * to connect to it, as the programs of a command do (abi/agent_inject.h).
 *
 * The library makes it when the first CUDA library is mapped: a memfd of RESIDENT_BYTES with the
 * name RESIDENT_NAME, sealed against shrinking and growing.  A tool finds it among the program's
 * descriptors and takes a write lock on its first byte (fcntl(2): an open file description
 * lock), which the kernel drops when the tool ends, however it does.  It writes its request,
 * counts up generation and clears INJECT_OFF in flags, which all stubs read: at its next CUDA
 * call the program connects.  Children of a fork read the same memory: each that makes a call
 * connects, and the tool leaves out those that it does not trace.  Only the memory's owner and
 * root can open it to write, and lock it: a child that has another user makes its own.
 *
 * The program may write anything here.  It takes the library from the folder of its own, which
 * must be the one that it was when the program started, and accepts a tool only if it runs as the same
 * user or as root.
 *
 * A tool that traces all of a user's programs listens under the name of resident_awaits(), too.
 * A program that has just made its memory connects there, and waits until the tool, if it works,
 * has asked it, and closes the connection: then no call is missed. */
#ifndef ABI_AGENT_RESIDENT_H
#define ABI_AGENT_RESIDENT_H
#include <linux/types.h>

#define RESIDENT_NAME "cuda-bpf-tools-resident"
#define RESIDENT_MAGIC "CUDARES"
#define RESIDENT_AWAITS "cuda-bpf-tools-resident-"

enum { RESIDENT_VERSION = 3, RESIDENT_BYTES = 4096, RESIDENT_OBJECT = 32, RESIDENT_SOCKET = 108 };

/* Why a process has not connected. */
enum resident_refusal {
	RESIDENT_FILTERED = 1,		/* it has a seccomp filter that it had not at its start */
	RESIDENT_NO_LIBRARY,		/* inject/TOOL.so is of another version or not there */
	RESIDENT_NOT_TRUSTED,		/* the tool does not answer, is another user's, or does not trace this process */
	RESIDENT_MOVED,			/* it has another root directory than when it started */
};

struct resident_control {
	char magic[8];			/* RESIDENT_MAGIC */
	__u32 version, bytes;		/* sizeof(struct resident_control) */
	__u32 filters;			/* seccomp filters that the program had at its start */
	__u32 runtime;			/* the runtime is a library of its own, or exported: its calls are seen */
	/* written by the tool */
	__u32 flags __attribute__((aligned(64)));	/* INJECT_OFF, unless a tool asks */
	__u32 generation;		/* of requests: counted up with each change */
	__u32 wanted;			/* 0: the tool has ended */
	char object[RESIDENT_OBJECT];	/* the tool's BPF object: cudaleak */
	char socket[RESIDENT_SOCKET];	/* abstract name, without its leading 0 */
	__u64 stamp;			/* of the tool's own library: resident_stamp() */
	/* written by the program */
	__u32 refused __attribute__((aligned(64)));	/* enum resident_refusal */
	__s32 refused_pid;		/* as the process sees it: the last one */
	__u32 refused_generation;
	__u32 first_generation;		/* a tool had asked before the program's first call; 0: none had */
};

/* Writes an abstract name, without its leading 0, to at least 40 bytes; returns its length. */
static inline unsigned resident_awaits(char *to, __u32 user)
{
	unsigned n = sizeof(RESIDENT_AWAITS) - 1, digits = 1;

	__builtin_memcpy(to, RESIDENT_AWAITS, n);
	for (__u32 left = user; left > 9; left /= 10)
		digits++;
	for (unsigned i = digits; i--; user /= 10)
		to[n + i] = (char)('0' + user % 10);
	return n + digits;
}

/* Distinguishes builds of a library, by all segments that are loaded (PT_LOAD), in their order:
 * begins with 0.  It is no signature: whoever chooses the bytes of a library can give it any
 * stamp. */
static inline __u64 resident_stamp(const void *segment, __u64 bytes)
{
	const unsigned char *p = (const unsigned char *)segment;
	__u64 hash = 0xcbf29ce484222325ull;

	for (; bytes >= sizeof(__u64); bytes -= sizeof(__u64), p += sizeof(__u64)) {
		__u64 word;

		__builtin_memcpy(&word, p, sizeof(word));
		hash = (hash ^ word) * 0x100000001b3ull;
		hash ^= hash >> 32;
	}
	while (bytes--)
		hash = (hash ^ *p++) * 0x100000001b3ull;
	return hash;
}

static inline __u64 resident_stamp_add(__u64 stamp, const void *segment, __u64 bytes)
{
	return (stamp ^ resident_stamp(segment, bytes)) * 0x100000001b3ull;
}

#endif
