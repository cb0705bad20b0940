/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <signal.h>
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
#include "sym/lines_dwarf.h"
#include "sym/lines_read.h"

enum { OPEN = 4 /* files with debug information at a time */, CPU_SECONDS = 3 };

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

/* What dwz took out of several files. */
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

/* Ends this process by SIGXCPU. */
static void limit_cpu(void)
{
	struct rlimit limit = { .rlim_max = RLIM_INFINITY };
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	limit.rlim_cur = used.ru_utime.tv_sec + used.ru_stime.tv_sec + CPU_SECONDS;
	signal(SIGXCPU, SIG_DFL);
	setrlimit(RLIMIT_CPU, &limit);
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

	limit_cpu();
	i = info_of(r->reader, r, job->fd);
	if (!i->dwarf || !address_of(&i->file, r->offset, &addr))
		return;
	forbid_open(true);
	lines_dwarf_read(i->dwarf, addr, job);
	forbid_open(false);
}
