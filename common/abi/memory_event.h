/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The records of the tools that track memory. */
#ifndef ABI_MEMORY_EVENT_H
#define ABI_MEMORY_EVENT_H
#include "abi/device.h"
#include "abi/record.h"
#include "abi/stack_frames.h"

struct memory_event {
	struct record head;		/* kind: enum cuda_id */
	unsigned long long time, start;	/* return and entry: CLOCK_MONOTONIC, ns */
	unsigned long long ptr;		/* address or handle; 0 if the call failed */
	unsigned long long size;	/* bytes; 0 = unknown */
	unsigned long long arg2;	/* CUDA_MAP: the handle; CUDA_RESET: what is reset; of a function with an IPC handle: a hash of that */
	unsigned long long stream;	/* as passed */
	unsigned long long location;	/* of the thread: see abi/device.h */
	unsigned int tid;
	int ret;
	unsigned int device;		/* see abi/device.h */
	unsigned int captured;		/* 1: it is part of a CUDA graph, and did not run */
	char comm[16];
	unsigned long long stack[STACK_FRAMES];
};

enum { IPC_WORDS = 8 };

/* A hash of an IPC handle, by which a process that opens it finds the one that made it. */
static inline unsigned long long ipc_hash_of(const unsigned long long words[IPC_WORDS])
{
	unsigned long long hash = 0;

	for (int i = 0; i < IPC_WORDS; i++)
		hash = (hash ^ words[i] ^ hash >> 29) * 0x9e3779b97f4a7c15ull;
	return hash;
}

#endif
