/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* ELF files as far as the tools read them: the locations of CUDA functions, and symbols.  The files
 * belong to other users, so each size and offset is checked and nothing is mapped. */
#ifndef ELF_ELF_H
#define ELF_ELF_H
#include <stdbool.h>
#include <stddef.h>
#include "abi/usdt.h"

/* One place to probe. */
struct elf_probe {
	int id;				/* of the function, as returned by find() */
	unsigned long long symbol;	/* file offset of the function */
	unsigned long long offset;	/* file offset to probe, see uprobe_cheap_offset() */
	bool returns, attach_last, detachable;		/* as in struct function; not set by elf_scan() */
	bool exported;			/* by .dynsym: what the dynamic linker knows */
	bool usdt;			/* a USDT probe: then … */
	unsigned int set;		/* … 1 + the number of its args; not set by elf_usdt_scan() */
	unsigned long long semaphore;	/* file offset of what counts who has placed it; 0: nothing */
	struct usdt_args args;
};

struct elf_scan {
	struct elf_probe *probes;	/* the caller frees it */
	int n;
	bool functions;		/* it has some of the source's functions, wanted or not */
	unsigned long long linker;	/* offset of a dynamic linker's _dl_debug_state(), or 0 */
	int runtime;		/* the major version of the CUDA runtime that it is, or 0 */
	bool fatbin;		/* contains kernels, so uses CUDA, with or without symbols */
	bool usdt_left;		/* elf_usdt_scan() left out probes that were wanted */
	const char *error;	/* why the file could not be read, or NULL; static storage */
};

/* Finds the functions that the file defines in .symtab and .dynsym and for which find(ctx, symbol)
 * returns an id, not -1.  Each is listed once, in order of ids.  Of a file with many names that needs a shared
 * runtime only .dynsym is read: it has no runtime of its own, and PyTorch's two largest have 150 MB of names. */
void elf_scan(int fd, int (*find)(const void *ctx, const char *symbol), const void *ctx,
	      struct elf_scan *scan);

/* USDT probes: the notes by which a file says where they are (sys/sdt.h of SystemTap, "stapsdt" version 3).
 * Appends those of the file to scan->probes for whose "PROVIDER:NAME" find() returns an id, not -1.  At most
 * 64; sets scan->usdt_left if some are left out, and scan->error, unless it is set, to why. */
void elf_usdt_scan(int fd, int (*find)(const void *ctx, const char *name), const void *ctx,
		   struct elf_scan *scan);

/* Returns the number of bytes from a function's start to an instruction at which a uprobe is
 * cheap: one that the kernel emulates, which costs less than single-stepping a copy of the instruction.  Skips only
 * instructions that leave the stack pointer, the return address, the argument registers and memory unchanged.  0 if there is
 * no such instruction.  In arch/ARCH/uprobe_place.c. */
size_t uprobe_cheap_offset(const unsigned char *code, size_t len);

/* Functions or variables of a file, by address: one block of memory, which free() frees, so that it
 * can be copied to another process. */
struct elf_symbols;

/* Loads a file's functions, by file offset; NULL if it has none or they cannot be read.  Those that
 * do not fit into 64 MiB are left out.  debug: its separate debug file, whose functions are the file's as
 * well, or -1. */
struct elf_symbols *elf_functions_load(int fd, int debug);

/* Loads those 8-byte variables, at most max, whose symbol ends with end, by address; NULL if there
 * are none, or if the file contains no kernels. */
struct elf_symbols *elf_variables_load(int fd, const char *end, size_t max);

/* Returns the memory that the symbols take, in bytes. */
size_t elf_symbols_size(const struct elf_symbols *s);

/* Returns the name of the function at this file offset, and sets *off to the distance from its
 * start; NULL if there is none.  The name lives as long as the symbols. */
const char *elf_symbols_find(const struct elf_symbols *s, unsigned long long offset,
			     unsigned long long *off);

/* The same for a file with so many names that they are left in it, where elf_symbols_find() finds none: returns
 * the file offset of the name, which ends with a zero byte; 0 if there is none. */
unsigned long long elf_symbols_name_offset(const struct elf_symbols *s, unsigned long long offset,
					  unsigned long long *off);

/* Returns the i-th symbol's name and sets *at to its address; NULL if there are no more, or if the names
 * are in the file. */
const char *elf_symbols_get(const struct elf_symbols *s, size_t i, unsigned long long *at);

/* Converts a file offset to its address by the file's headers; false if it is not in executable
 * code. */
bool elf_symbols_address(const struct elf_symbols *s, unsigned long long offset,
			 unsigned long long *addr);

#endif
