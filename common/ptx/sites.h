/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The table of an instrumented module's sites, as text in the module.  A line each, separated by tabs:
 *   S id file:line[,file:line...] kernel kind space op bytes	file:line innermost first, 0:0 if not known;
 *                      kernel: mangled; the function that has the access, which may be a .func
 *   F number "path"
 * kind: load store atomic reduce wait kernel; space: global shared local const generic readonly texture surface
 * barrier, or - ; op: as in the text; bytes: of a lane, 0 if not known. */
#ifndef PTX_SITES_H
#define PTX_SITES_H
#include <stddef.h>

enum { SITE_LOCS = 8 };

/* Of one table: the counts of more are larger than a frame (abi/agent_gpuprobe.h). */
enum { SITES_MAX = 1 << 18 };

struct site {
	const char *kernel, *kind, *space, *op;	/* in the table's text */
	const char *file;	/* of the innermost location outside CUDA's own headers, or NULL; in the table's text */
	unsigned line, bytes;
	struct { unsigned file, line; } locs[SITE_LOCS];
	unsigned num_locs;
};

struct sites {
	struct site *site;	/* by id */
	unsigned num;
	char *text;		/* a copy, with zeros in it */
	const char **files;
	unsigned num_files;
};

/* Reads a table; hostile text: ids must be 0, 1, 2 …  Returns NULL, or what is wrong with it; sites_free() in
 * both cases. */
const char *sites_read(struct sites *sites, const char *text, size_t size);
void sites_free(struct sites *sites);

#endif
