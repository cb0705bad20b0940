/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The PTX in a file: a program, a library, a fat binary, or PTX itself. */
#ifndef PTX_FILE_H
#define PTX_FILE_H
#include <stdbool.h>
#include <stddef.h>
#include "ptx/fatbin.h"

struct ptx_file {
	const char *path;
	char *data;		/* a private copy in memory, which may be changed */
	size_t size;
	size_t room;		/* bytes that may still be unpacked */
	unsigned warnings;	/* what is wrong with its images: the first few are printed */
};

/* Reads a file; exits 1 if it cannot, or if it is no regular file. */
void ptx_file_open(struct ptx_file *file, const char *path);

/* Return true if the file is PTX, and nothing around it. */
bool ptx_file_is_text(const struct ptx_file *file);

struct ptx_images {
	unsigned ptx, other;	/* images with PTX; containers with nothing but machine code */
	unsigned bad;		/* images or containers that could not be read */
};

/* Calls fn for each image with PTX: text is size bytes, then a 0; sm is the number of its device, 0 if it is PTX
 * itself. */
struct ptx_images ptx_file_each(struct ptx_file *file,
				void (*fn)(void *ctx, unsigned sm, const char *text, size_t size), void *ctx);

/* Prints what is wrong with a part of the file, unless there was too much before. */
void ptx_file_warning(struct ptx_file *file, const char *part, const char *why);

void ptx_file_close(struct ptx_file *file);

#endif
