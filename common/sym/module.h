/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The files that processes map code from: opened while the process lives; their symbols are read
 * when a name is needed.  Private to syms.c and stack.c. */
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
	bool said_full, said_symbols;	/* these warnings are printed once */
};

/* The open descriptor keeps the file readable and its inode number from being reused. */
struct module {
	struct modules *modules;
	char *key;		/* device, inode and path */
	const char *path;	/* within key */
	int fd;			/* -errno if the file could not be opened */
	bool read;
	struct elf_symbols *symbols;
	bool searched;		/* for the variables of module_variables() */
	struct elf_variable *variables;
	int nvariables;
	UT_hash_handle hh;
};

void modules_init(struct modules *ms);

/* Closes the files and frees everything that the functions below returned. */
void modules_free(struct modules *ms);

/* Returns the module of a process's mapping, opened if access is permitted. */
struct module *modules_get(struct modules *ms, int pid, const struct mapping *map);

/* Returns the symbol of the function at this file offset, and sets *off to the distance from its
 * start; NULL if none is known. */
const char *module_symbol(struct module *m, unsigned long long offset, unsigned long long *off);

/* Returns the *n 8-byte variables whose symbol ends with end, which must always be the same. */
const struct elf_variable *module_variables(struct module *m, const char *end, int *n);

/* Return true if used exceeds max, and warn once that there are too many of what. */
bool modules_full(struct modules *ms, long used, long max, const char *what);

#endif
