/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <elfutils/libdwelf.h>
#include "base/die.h"
#include "elf/elf_debug.h"
#include "elf/elf_file.h"
#include "proc/helper.h"
#include "proc/proc.h"
#include "sym/debug_file.h"
#include "sym/lines_read.h"

enum { OPEN = 4 /* files with debug information at a time */, CPU_SECONDS = 3, MAX_INLINED = 64, MAX_STRING = 4096 };

/* One file.  Without debug information dwarf is NULL. */
struct debug_info {
	char *key;
	struct elf_file file;	/* for its segments */
	Dwarf *dwarf, *alt;
	int fd, debug, alt_fd;
};

struct lines_reader {
	struct debug_info open[OPEN];
	unsigned next;		/* to be replaced */
};

struct lines_reader *lines_reader_new(void)
{
	return xcalloc(1, sizeof(struct lines_reader));
}

void lines_reader_free(struct lines_reader *r)
{
	free(r);
}

static void close_info(struct debug_info *i)
{
	if (!i->key)
		return;
	dwarf_end(i->dwarf);
	dwarf_end(i->alt);
	elf_file_close(&i->file);
	free(i->key);
	if (i->alt_fd >= 0)
		close(i->alt_fd);
	if (i->debug >= 0)
		close(i->debug);
	if (i->fd >= 0)
		close(i->fd);
	*i = (struct debug_info){ 0 };
}

/* libdw opens files by names in debug information: of units that were split off, of alternative files.  A name
 * is not to decide what is opened.  Without room for a descriptor the kernel does not look at the name. */
static void forbid_open(bool forbid)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = forbid ? 0 : limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static Dwarf *begin(int fd)
{
	Dwarf *dwarf;

	forbid_open(true);
	dwarf = dwarf_begin(fd, DWARF_C_READ);
	forbid_open(false);
	return dwarf;
}

/* The common file of dwz, which took parts out of several files. */
static void open_alt(struct debug_info *i, int pid)
{
	const char *name;
	const void *id;
	ssize_t size = i->dwarf ? dwelf_dwarf_gnu_debugaltlink(i->dwarf, &name, &id) : 0;

	if (size <= 0)
		return;
	i->alt_fd = debug_file_open_alt(pid, i->fd, name, id, size);
	i->alt = i->alt_fd < 0 ? NULL : begin(i->alt_fd);
	if (i->alt)
		dwarf_setalt(i->dwarf, i->alt);
}

static void open_info(struct debug_info *i, int fd, int pid, const char *key)
{
	struct elf_debug d;

	*i = (struct debug_info){ .key = xstrdup(key), .fd = fd, .debug = -1, .alt_fd = -1 };
	if (fd < 0 || elf_file_open(&i->file, fd) || !elf_debug_read(fd, &d))
		return;
	if (!d.lines)
		i->debug = debug_file_open(pid, fd, &d);
	if (d.lines || i->debug >= 0)
		i->dwarf = begin(d.lines ? fd : i->debug);
	open_alt(i, pid);
}

static struct debug_info *info_of(struct lines_reader *r, const struct lines_request *request, int fd)
{
	struct debug_info *i;

	for (i = r->open; i < r->open + OPEN; i++)
		if (i->key && !strcmp(i->key, request->key))
			return i;
	i = &r->open[r->next++ % OPEN];
	close_info(i);
	open_info(i, proc_reopen(fd), request->pid, request->key);
	return i;
}

/* .debug_aranges leads to the unit; not every compiler writes it. */
static bool unit_at(Dwarf *dwarf, Dwarf_Addr addr, Dwarf_Die *unit)
{
	Dwarf_CU *cu = NULL;
	uint8_t type;

	if (dwarf_addrdie(dwarf, addr, unit))
		return true;
	while (!dwarf_get_units(dwarf, cu, &cu, NULL, &type, unit, NULL))
		if (type != DW_UT_type && dwarf_haspc(unit, addr) > 0)
			return true;
	return false;
}

static unsigned lines_read_size_of(const char *text)
{
	return text && *text ? strnlen(text, MAX_STRING - 1) + 1 : 0;
}

static void put_string(struct helper_job *job, const char *text, unsigned size)
{
	if (size) {
		helper_put(job, text, size - 1);
		helper_put(job, "", 1);
	}
}

/* dir: of the compilation; put before a relative name. */
static void lines_read_put(struct helper_job *job, const char *function, const char *dir, const char *file, int line,
		bool inlined)
{
	char path[MAX_STRING];
	struct lines_entry e = { .line = line > 0 ? line : 0, .inlined = inlined, .function = lines_read_size_of(function) };

	if (file && *file != '/' && dir && *dir == '/') {
		snprintf(path, sizeof(path), "%s/%s", dir, file);
		file = path;
	}
	e.file = lines_read_size_of(file);
	helper_put(job, &e, sizeof(e));
	put_string(job, function, e.function);
	put_string(job, file, e.file);
}

static const char *dir_of(Dwarf_Die *unit)
{
	Dwarf_Attribute attr;

	return dwarf_attr(unit, DW_AT_comp_dir, &attr) ? dwarf_formstring(&attr) : NULL;
}

static const char *lines_read_name_of(Dwarf_Die *function)
{
	Dwarf_Attribute attr;
	const char *name = NULL;

	if (dwarf_attr_integrate(function, DW_AT_linkage_name, &attr) ||
	    dwarf_attr_integrate(function, DW_AT_MIPS_linkage_name, &attr))
		name = dwarf_formstring(&attr);
	return name ?: dwarf_diename(function);
}

static int number_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	return dwarf_attr(die, name, &attr) && !dwarf_formudata(&attr, &value) && value <= 0x7fffffff ? value : 0;
}

/* Where an inlined function is called. */
static void call_of(Dwarf_Die *unit, Dwarf_Die *inlined, const char **file, int *line)
{
	Dwarf_Files *files;
	size_t n;
	int at = number_of(inlined, DW_AT_call_file);

	*file = !dwarf_getsrcfiles(unit, &files, &n) && (size_t)at < n ? dwarf_filesrc(files, at, NULL, NULL) : NULL;
	*line = number_of(inlined, DW_AT_call_line);
}

/* Returns the scopes around addr, from the innermost outwards, as they are nested where they are inlined. */
static int scopes_at(Dwarf_Die *unit, Dwarf_Addr addr, Dwarf_Die **scopes)
{
	Dwarf_Die *found = NULL;
	int n = dwarf_getscopes(unit, addr, &found);

	*scopes = NULL;
	if (n > 0)
		n = dwarf_getscopes_die(&found[0], scopes);
	free(found);
	return n;
}

/* Appends an entry with its strings for each function at this address, from the innermost inlined one outwards. */
static void put_lines(Dwarf *dwarf, Dwarf_Addr addr, struct helper_job *job)
{
	const char *file = NULL, *dir;
	Dwarf_Die unit, *scopes;
	Dwarf_Line *at;
	bool function = false;
	int line = 0, n;

	if (!unit_at(dwarf, addr, &unit)) {
		lines_read_put(job, NULL, NULL, NULL, 0, false);
		return;
	}
	dir = dir_of(&unit);
	at = dwarf_getsrc_die(&unit, addr);
	if (at) {
		file = dwarf_linesrc(at, NULL, NULL);
		dwarf_lineno(at, &line);
	}
	n = scopes_at(&unit, addr, &scopes);
	for (int i = 0, inlined = 0; i < n && !function && inlined < MAX_INLINED; i++) {
		int tag = dwarf_tag(&scopes[i]);

		function = tag == DW_TAG_subprogram;
		if (!function && tag != DW_TAG_inlined_subroutine)
			continue;
		lines_read_put(job, lines_read_name_of(&scopes[i]), dir, file, line, !function);
		if (!function)
			call_of(&unit, &scopes[i], &file, &line);
		inlined++;
	}
	free(scopes);
	if (!function)		/* hand-written assembly has lines, but no functions */
		lines_read_put(job, NULL, dir, file, line, false);
}

static bool address_of(const struct elf_file *f, unsigned long long offset, unsigned long long *addr)
{
	for (size_t i = 0; i < f->nloads; i++) {
		const Elf64_Phdr *p = &f->loads[i];

		if (offset >= p->p_offset && offset - p->p_offset < p->p_filesz) {
			*addr = offset - p->p_offset + p->p_vaddr;
			return true;
		}
	}
	return false;
}

void lines_read(struct helper_job *job)
{
	const struct lines_request *r = job->in;
	unsigned long long addr;
	struct debug_info *i;

	helper_limit_cpu(CPU_SECONDS);
	i = info_of(r->reader, r, job->fd);
	if (!i->dwarf || !address_of(&i->file, r->offset, &addr))
		return;
	forbid_open(true);
	put_lines(i->dwarf, addr, job);
	forbid_open(false);
}
