/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Reads other processes' memory, by helper processes (see helper_pool.h): a page may be backed by their own
 * userfaultfd or FUSE file system. */
#ifndef PROC_VM_READ_H
#define PROC_VM_READ_H
#include <stdbool.h>
#include <stddef.h>

struct helper_pool;

/* Reads a string of at most size - 1 bytes; false if it cannot be read or is empty,
 * or if l is NULL. */
bool vm_read_string(struct helper_pool *l, int pid, unsigned long long at, char *text, size_t size);

/* Reads the n 8-byte words at these addresses; those that cannot be read become 0.  Returns 0, or
 * the error of helper_call(). */
int vm_read_words(struct helper_pool *l, int pid, const unsigned long long *at, size_t n,
		  unsigned long long *words);

/* Returns size bytes, which the caller frees; NULL if any cannot be read, or if l is NULL. */
void *vm_read_bytes(struct helper_pool *l, int pid, unsigned long long at, size_t size);

/* Reads into bytes[size] what can be read from this address on, by pages; returns how many bytes. */
size_t vm_read_some(struct helper_pool *l, int pid, unsigned long long at, void *bytes, size_t size);

/* For functions in a helper: reads size bytes; false if any cannot be read. */
bool vm_get(int pid, unsigned long long at, void *bytes, size_t size);

/* Return true if the kernel does not let us read this process's memory at all: CAP_SYS_PTRACE is missing, or
 * a security module or a seccomp filter forbids it.  privilege_missing(PRIVILEGE_MEMORY) says why. */
bool vm_read_forbidden(struct helper_pool *l, int pid);

#endif
