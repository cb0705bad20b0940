/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Interface of inject/resident.so to an inject/TOOL.so that it has mapped (mapped.c): the stubs are those of resident.so, by their
 * numbers, and the library's own are not used. */
#ifndef AGENT_INJECT_INSTANCE_H
#define AGENT_INJECT_INSTANCE_H
#include <stdbool.h>
#include <linux/types.h>
#include "base/overflow_uid.h"

struct inject_function;
struct stub;
struct stub_frame;

/* real: the function.  wanted: 0: jump there; else call it, with wanted - 1 words of arguments on the stack. */
struct entered { __u64 real, wanted; };

/* STUB_NAMES: functions with the same code that are distinguished.  TLS: bytes of a thread's memory that instances have.
 * WINDOW: bytes where the beginning of the shared memory, with the functions' flags, is mapped: something always is, because a
 * stub may be about to read flags of a tool that has just been left. */
enum {
	INSTANCE_VERSION = 6, STUB_NAMES = 8, INSTANCE_TLS = 272, INSTANCE_TLS_ALIGN = 8,
	INSTANCE_WINDOW = 1 << 20
};

/* The program, for the tool's library. */
struct resident {
	const struct stub *stub;
	const __u16 (*named)[STUB_NAMES];	/* by stub: 1 + number in names of what it is called, ended by 0 */
	const struct inject_function *names;	/* only the name of each counts, … */
	const char *text;			/* … an offset in text */
	__u32 stubs;
	__u32 filters;
	struct users users;
	__s64 started, ahead;		/* as in struct injected */
	__u64 page_size, stack;
	const void *vdso;
	__u64 *patience;		/* as in struct injected */
	bool ancestors;
	__u64 signals;			/* those that the program blocks; all are now */
	void *window;
	char socket[108];
};

/* The functions may be called by any thread that is counted as one of the instance's; attach, add and leave by one at a time. */
struct instance {
	__u32 version, bytes;
	/* Connects, maps the memory and takes over all stubs.  Returns false if the tool does not trace the process; then leave(). */
	bool (*attach)(const struct resident *r);
	/* Takes over a stub that was made since. */
	void (*add)(const struct resident *r, __u32 number);
	/* The flags of a stub's function, in the window; NULL: the tool does not want it. */
	const __u32 *(*flags)(__u32 number);
	/* Tells the tool that all stubs are. */
	void (*ready)(void);
	struct entered (*entered)(struct stub_frame *f, __u32 number);
	void (*returned)(struct stub_frame *f, __u32 number);
	/* For the linker's reports: see inject.c. */
	void (*noted)(const char *path);
	void (*bound)(const char *path, __u32 functions);
	void (*consistent)(void);
	void (*closed)(void);
	/* Return true if this process is not, or no longer, traced; if it has a seccomp filter of its own. */
	bool (*is_out)(void);
	bool (*is_filtered)(void);
	/* Gives all memory back, but the window, whose memory is the caller's to replace; in_use: a thread may be in a program yet, and reads zeros. */
	void (*leave)(bool in_use);
};

#endif
