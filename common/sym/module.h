/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The files that processes have mapped code from: opened while the process lives, and their
 * symbols read when a name is wanted.  For syms.c and stack.c alone. */
#ifndef MODULE_H
#define MODULE_H
#include <stdbool.h>
#include <stddef.h>
#include "base/hash.h"
#include "sym/demangle.h"

struct elf_symbols;
struct elf_variable;
struct mapping;

struct modules {
	struct module *all;
	struct demangler demangler;
	long nopen, max_open;	/* files */
	size_t symbols;		/* bytes, of all files together */
	bool said_full, said_symbols;	/* these warnings are given once */
};

/* Its descriptor keeps the file readable, and its inode its own. */
struct module {
	struct modules *modules;
	char *key;		/* device, inode and path */
	const char *path;	/* within key */
	int fd;			/* -errno if it could not be opened */
	bool read;
	struct elf_symbols *symbols;
	bool searched;		/* for the variables of module_variables() */
	struct elf_variable *variables;
	int nvariables;
	UT_hash_handle hh;
};

void modules_init(struct modules *ms);

/* Closes the files; what the functions below have returned is gone. */
void modules_free(struct modules *ms);

/* Returns the module of a mapping that a process has, opened if the process lets us. */
struct module *modules_get(struct modules *ms, int pid, const struct mapping *map);

/* Returns the symbol of the function at this offset of the file, and sets *off to the distance
 * from its start; NULL if none is known. */
const char *module_symbol(struct module *m, unsigned long long offset, unsigned long long *off);

/* Returns the *n variables of 8 bytes whose symbol ends so, always the same end. */
const struct elf_variable *module_variables(struct module *m, const char *end, int *n);

/* Returns true if used is above max, and warns once that there are too many of what. */
bool modules_full(struct modules *ms, long used, long max, const char *what);

#endif
