/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Files that Go's linker made, also of parts in C.  Functions of Go have frame pointers, and no .eh_frame; their .debug_frame
 * does not describe where assembly switches stacks. */
#ifndef ELF_ELF_GO_H
#define ELF_ELF_GO_H
#include <stdbool.h>

struct elf_file;

struct elf_go {
	bool is;		/* the file has Go code … */
	bool has_place;		/* … and place is known: */
	long long place;	/* from the thread pointer to the address of the running goroutine's struct g; of the program
				 * itself, not of a library */
};

/* Return true if the file has Go code.  For helpers, as the file is another user's. */
bool elf_has_go(const struct elf_file *f);

/* Fills in go for fd, open for reading. */
void elf_go_read(int fd, struct elf_go *go);

#endif
