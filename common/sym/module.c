/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "base/die.h"
#include "elf/elf.h"
#include "proc/proc.h"
#include "sym/module.h"

/* Limits on what programs can make the tool keep: variables per file; and in total a share of the
 * open file limit (the rest is for other uses) … */
enum { MAX_VARIABLES = 1 << 17, OPEN_PART = 2 };

/* … and bytes of symbols. */
static const size_t MAX_SYMBOLS = 1ull << 30;

void modules_init(struct modules *ms)
{
	*ms = (struct modules){ .max_open = sysconf(_SC_OPEN_MAX) / OPEN_PART };
}

static void module_free(struct module *m)
{
	if (m->fd >= 0)
		close(m->fd);
	elf_symbols_free(m->symbols);
	for (int i = 0; i < m->nvariables; i++)
		free(m->variables[i].name);
	free(m->variables);
	free(m->key);
	free(m);
}

void modules_free(struct modules *ms)
{
	struct module *m, *next;

	HASH_ITER(hh, ms->all, m, next) {
		HASH_DEL(ms->all, m);
		module_free(m);
	}
}

bool modules_full(struct modules *ms, long used, long max, const char *what)
{
	if (used <= max)
		return false;
	if (!ms->said_full)
		warning(0, "too many %s in the traced programs: some functions will have no names", what);
	ms->said_full = true;
	return true;
}

static int open_file(struct modules *ms, int pid, const struct mapping *map)
{
	int fd = modules_full(ms, ms->nopen, ms->max_open, "files") ? -EMFILE :
		 proc_open_mapping(pid, map);

	ms->nopen += fd >= 0;
	return fd;
}

struct module *modules_get(struct modules *ms, int pid, const struct mapping *map)
{
	char *key = xprintf("%llx:%llu:%s", map->dev, map->ino, map->path);
	struct module *m;

	HASH_FIND_STR(ms->all, key, m);
	if (m && m->fd < 0) {	/* access through another process may work */
		m->fd = open_file(ms, pid, map);
		m->read = false;
	}
	if (m) {
		free(key);
		return m;
	}
	m = xcalloc(1, sizeof(*m));
	m->modules = ms;
	m->key = key;
	m->path = strchr(strchr(key, ':') + 1, ':') + 1;
	m->fd = open_file(ms, pid, map);
	HASH_ADD_KEYPTR(hh, ms->all, m->key, strlen(m->key), m);
	return m;
}

static struct elf_symbols *load(struct modules *ms, int fd)
{
	struct elf_symbols *symbols;

	if (ms->symbols > MAX_SYMBOLS) {
		if (!ms->said_symbols)
			warning(0, "symbol limit of %zu MiB reached: functions in further "
				"files will have no names", MAX_SYMBOLS >> 20);
		ms->said_symbols = true;
		return NULL;
	}
	symbols = elf_symbols_load(fd);
	ms->symbols += symbols ? elf_symbols_size(symbols) : 0;
	return symbols;
}

const char *module_symbol(struct module *m, unsigned long long offset, unsigned long long *off)
{
	if (!m->read && m->fd >= 0) {
		m->symbols = load(m->modules, m->fd);
		m->read = true;
	}
	return m->symbols ? elf_symbols_find(m->symbols, offset, off) : NULL;
}

const struct elf_variable *module_variables(struct module *m, const char *end, int *n)
{
	if (!m->searched && m->fd >= 0) {
		m->variables = elf_variables(m->fd, end, MAX_VARIABLES, &m->nvariables);
		m->searched = true;
	}
	*n = m->nvariables;
	return m->variables;
}
