/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What the tools read from an ELF file: where its CUDA functions are, and its symbols.
 * The files are other users': each size and offset is checked, nothing is mapped. */
#ifndef ELF_H
#define ELF_H
#include <stdbool.h>
#include <stddef.h>

/* One place to probe. */
struct elf_probe {
	int id;				/* of the function, as find() gave it */
	unsigned long long symbol;	/* file offset of the function */
	unsigned long long offset;	/* file offset to probe: the cheap point, see uprobe_cheap_offset() */
	bool returns, late, toggle;		/* as in struct function: not set by elf_scan() */
};

struct elf_scan {
	struct elf_probe *probes;	/* the caller's to free() */
	int n;
	unsigned long long linker;	/* where a dynamic linker's _dl_debug_state() is, or 0 */
	bool fatbin;		/* holds kernels, so it uses CUDA, with or without symbols */
	const char *error;	/* why the file could not be read, or NULL; static storage */
};

/* Finds the functions that the file defines, in .symtab and .dynsym, and for which find(ctx, symbol)
 * gives an id, not -1: each once, in the order of their ids. */
void elf_scan(int fd, int (*find)(const void *ctx, const char *symbol), const void *ctx,
	      struct elf_scan *scan);

/* How many bytes to step from a function's start to an instruction at which a uprobe is
 * cheap: one that the kernel emulates (push, nop, call, jmp, jcc; arch/x86/kernel/uprobes.c)
 * instead of single-stepping a copy of it, a cost of nine times.  Only instructions that
 * leave %rsp, the argument registers and memory alone are stepped over (endbr64, cmp with
 * memory, nops).  0 if there is no such place. */
size_t uprobe_cheap_offset(const unsigned char *code, size_t len);

struct elf_symbols;

/* Loads a file's function symbols; NULL if it has none or they cannot be read.  fd is needed no
 * more; what is returned is the caller's to free with elf_symbols_free(). */
struct elf_symbols *elf_symbols_load(int fd);
void elf_symbols_free(struct elf_symbols *s);

/* The memory that they take, in bytes. */
size_t elf_symbols_size(const struct elf_symbols *s);

/* The function at this offset of the file; *off is the distance from its start.  NULL if
 * none; the name lives as long as the symbols. */
const char *elf_symbols_find(const struct elf_symbols *s, unsigned long long offset,
			     unsigned long long *off);

/* A variable: its address as the file's headers have it. */
struct elf_variable {
	unsigned long long addr;
	char *name;
};

/* The variables of 8 bytes whose symbol ends so, *n of them, at most max, of a file that holds
 * kernels.  The array and the names are the caller's. */
struct elf_variable *elf_variables(int fd, const char *end, int max, int *n);

/* The address that the file's headers give a place in executable code; false if it is none. */
bool elf_address(int fd, unsigned long long offset, unsigned long long *addr);

#endif
