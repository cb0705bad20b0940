/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#ifndef TESTS_WORKLOADS_MEM_H
#define TESTS_WORKLOADS_MEM_H

#include <stddef.h>
#include <stdint.h>

#include "cuda_api.h"

struct word {
	const char *name;
	int args;
	void (*run)(char **arg);
};

/* What the words of each file are; the last has no name. */
extern const struct word runtime_words[], copy_words[], driver_words[];

/* Counts a call and remembers its result. */
int did(int result);

unsigned long long number(const char *text);

/* A stack for each kind of thing; 0 when it is empty. */
enum kind {
	DEVICE, HOST, ARRAYS, MIPMAPS, STREAM_ORDERED, POOLED, REGISTERED, IPC, EXTERNAL, MAPPED,
	HANDLES, STREAMS,
	DRV_DEVICE, DRV_HOST, DRV_ARRAYS, DRV_MIPMAPS, DRV_STREAM_ORDERED, DRV_CONTEXTS, KINDS,
};
void keep(enum kind kind, uintptr_t value);
uintptr_t last(enum kind kind);

/* The I-th that was kept, from 0; 0 if there is none. */
uintptr_t kept(enum kind kind, size_t i);

/* Of the calling thread: see the word use. */
extern __thread cudaStream_t stream_now;

void *driver_symbol(const char *name);

/* How the functions are reached: linked, or by dlopen and dlsym. */
#ifdef RUNTIME_DLOPEN
void *runtime_symbol(const char *name);
#define RT(function) ((__typeof__(&function))runtime_symbol(#function))
#else
#define RT(function) function
#endif
#ifdef DRIVER_LINKED
#define DRV(function) function
#else
#define DRV(function) ((__typeof__(&function))driver_symbol(#function))
#endif

#endif
