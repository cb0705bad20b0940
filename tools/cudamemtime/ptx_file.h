/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The PTX in a file (a program, a library, a fat binary, or PTX itself), and functions in machine code. */
#ifndef CUDAMEMTIME_PTX_FILE_H
#define CUDAMEMTIME_PTX_FILE_H
#include <stdbool.h>
#include <stddef.h>
#include "ptx/fatbin.h"

struct ptx_file {
	const char *path;
	char *data;		/* a private copy in memory, which may be changed */
	size_t size;
	size_t room;		/* bytes that may still be unpacked */
	unsigned warnings;	/* about its images: the first few are printed */
};

/* Reads a file; exits 1 on an error, or if it is not a regular file. */
void ptx_file_open(struct ptx_file *file, const char *path);

/* Returns true if the file is PTX itself. */
bool ptx_file_is_text(const struct ptx_file *file);

struct ptx_images {
	unsigned ptx, other;	/* images with PTX; containers with machine code only */
	unsigned bad;		/* images or containers that could not be read */
};

/* Calls fn for each image with PTX: text is size bytes, then a 0; sm is the number of its device, 0 if it is PTX
 * itself. */
struct ptx_images ptx_file_each(struct ptx_file *file,
				void (*fn)(void *ctx, unsigned sm, const char *text, size_t size), void *ctx);

/* Prints a warning about a part of the file, up to a limit. */
void ptx_file_warning(struct ptx_file *file, const char *part, const char *why);

void ptx_file_close(struct ptx_file *file);

/* Returns the number of a kernel's instructions in a cubin for sm_70 or later, with padding; 0: unknown. */
unsigned cubin_instructions(int fd, const char *symbol);

#endif
