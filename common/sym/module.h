/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The files that processes map code from: opened while the process lives; their symbols are read
 * when a name is needed.  Private to this room. */
#ifndef SYM_MODULE_H
#define SYM_MODULE_H
#include <stdbool.h>
#include <stddef.h>
#include "base/hash.h"
#include "base/quota.h"
#include "elf/elf_debug.h"
#include "elf/elf_go.h"
#include "python/interpreter.h"
#include "sym/demangle.h"

struct cfi;
struct elf_symbols;
struct helper_pool;
struct mapping;

struct modules {
	struct module *all;
	struct helper_pool *helpers;
	struct demangler demangler;
	struct quota files, memory, symbols;	/* open files; bytes */
	bool few_files;		/* warned that this process has no more descriptors */
	int nwanted;		/* modules that module_want() marked and that are not read */
};

/* Contents of a file, read ten times a second at most while that fails for now. */
struct module_table {
	struct elf_symbols *symbols;
	bool read;
	unsigned long long tried;	/* when, ns */
};

/* The unwind rules of functions, read as they are needed; in order of their code, which is apart. */
struct module_rules {
	struct module_rule {
		unsigned long long start, end;	/* file offsets */
		struct cfi *cfi;		/* NULL: there are none */
	} *all;
	size_t n, room;
	unsigned long long tried;	/* when a read failed that may succeed later, ns */
};

/* The open descriptor keeps the file readable and its inode number from being reused. */
struct module {
	struct modules *modules;
	char *key;		/* device, inode and path */
	const char *path;	/* within key */
	int pid;		/* that mapped it first … */
	unsigned user;		/* … and whose quota it takes from */
	int refs;		/* mappings and stacks; without any it is only a cache */
	int fd;			/* -errno if the file could not be opened */
	bool wanted;
	struct module_table functions, variables;
	struct module_name *names;	/* those that module_name_at() has read */
	struct module_rules rules;
	struct interpreter_file python;
	char build_id[2 * ELF_BUILD_ID_MAX + 1];	/* as module_build_id() returns it */
	bool has_build_id;	/* it was read, or there is none */
	struct elf_go go;	/* as module_go() returns it … */
	bool has_go;		/* … and it was read */
	UT_hash_handle hh;
};

/* Takes from a quota, if need be by freeing modules that are only a cache; false if that does not
 * suffice. */
bool modules_take(struct modules *ms, struct quota *q, unsigned user, int pid, size_t n);

void modules_init(struct modules *ms, struct helper_pool *helpers);

/* Closes the files and frees everything that the functions below returned. */
void modules_free(struct modules *ms);

/* Returns the module of a process's mapping, opened if access is permitted; NULL if its user's
 * processes have too many.  module_put() drops the reference; both accept NULL modules. */
struct module *modules_get(struct modules *ms, int pid, unsigned user, const struct mapping *map);
struct module *module_ref(struct module *m);
void module_put(struct module *m);

/* Marks a module whose functions will be needed; modules_read_ahead() reads those of one such module,
 * while there is time: after a signal to the tool there is little. */
void module_want(struct module *m);
void modules_read_ahead(struct modules *ms);

/* Returns the symbol of the function at this file offset, and sets *off to the distance from its
 * start; NULL if none is known. */
const char *module_symbol(struct module *m, unsigned long long offset, unsigned long long *off);

/* Returns its functions, by file offset; NULL if none are known. */
const struct elf_symbols *module_functions(struct module *m);

/* Returns the file's build id in hexadecimal, "" if it has none or cannot be read now.  It lives as long as the module. */
const char *module_build_id(struct module *m);

/* Returns what the file has of Go, which is nothing if it cannot be read now. */
const struct elf_go *module_go(struct module *m);

/* Finds the unwind rules of the code at this file offset: *cfi is NULL if there are none.  Return false
 * if the file cannot be read now; then it is worth asking again. */
bool module_cfi(struct module *m, unsigned long long offset, const struct cfi **cfi);
void module_rules_free(struct module *m);

/* Returns the 8-byte variables whose symbol ends with end, which must always be the same; NULL if
 * none are known. */
const struct elf_symbols *module_variables(struct module *m, const char *end);

#endif
