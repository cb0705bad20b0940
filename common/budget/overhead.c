/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/die.h"
#include "budget/overhead.h"
#include "machine/trap_function.h"

/* Traps of a measurement; what is taken for one that cannot be measured, or that seems to cost nothing; bytes to read before
 * each. */
enum { TRAPS = 51, USUAL_TRAP_NS = 1000, LEAST_TRAP_NS = 100, SPOIL = 1 << 20, LINE = 64 };

static const unsigned long long MEASURE_NS = 10000000000ull, CHECK_NS = 5000000000ull;

/* ---- What a trap costs */

#define TRAP_FUNCTION(name)							\
	void name(void);							\
	asm(".pushsection .text\n\t.type " #name ", @function\n"		\
	    #name ":\n\t.cfi_startproc\n\t" TRAP_FUNCTION_CODE "\n\t.cfi_endproc\n\t"	\
	    ".size " #name ", . - " #name "\n\t.popsection")

TRAP_FUNCTION(trapped);
TRAP_FUNCTION(not_trapped);

/* Sets *ctx, the address of code, to its offset in this program's file. */
static int find_offset(struct dl_phdr_info *info, size_t size, void *ctx)
{
	unsigned long long *at = ctx, address = *at - info->dlpi_addr;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];

		if (h->p_type != PT_LOAD || address < h->p_vaddr || address - h->p_vaddr >= h->p_filesz)
			continue;
		*at = address - h->p_vaddr + h->p_offset;
		return 1;
	}
	return 0;
}

static struct attachment *probe_self(struct overhead *o)
{
	unsigned long long at = (unsigned long)trapped + TRAP_AT;
	int fd = open("/proc/self/exe", O_PATH | O_CLOEXEC);
	struct attachment *a = NULL;

	if (fd >= 0 && dl_iterate_phdr(find_offset, &at) == 1)
		a = attach_one(&o->attacher, o->empty, fd, getpid(), at);
	if (!a)
		warning(errno, "cannot measure what a probe costs: taking %d ns", USUAL_TRAP_NS);
	if (fd >= 0)
		close(fd);
	return a;
}

/* Uses all of it: what a trap needs is then not in the caches that are next to the CPU, as in a program that does something
 * between two launches.  What a trap costs the program afterwards is not measured: see docs/cost.md. */
static void spoil_caches(const struct overhead *o)
{
	for (unsigned i = 0; i < SPOIL; i += LINE)
		*(volatile char *)(o->spoil + i) += 1;
}

static int by_value(const void *a, const void *b)
{
	const unsigned long long p = *(const unsigned long long *)a, q = *(const unsigned long long *)b;

	return (p > q) - (p < q);
}

/* Returns the median of what a call of fn takes, ns. */
static double measure(const struct overhead *o, void (*fn)(void))
{
	unsigned long long ns[TRAPS];

	for (int i = 0; i < TRAPS; i++) {
		unsigned long long began;

		spoil_caches(o);
		began = clock_ns();
		fn();
		ns[i] = clock_ns() - began;
	}
	qsort(ns, TRAPS, sizeof(*ns), by_value);
	return ns[TRAPS / 2];
}

void overhead_measure(struct overhead *o)
{
	unsigned long long now = clock_ns();
	double ns;

	if (!o->probe || now - o->measured < MEASURE_NS)
		return;
	o->measured = now;
	ns = measure(o, trapped) - measure(o, not_trapped);
	o->trap_ns = ns > LEAST_TRAP_NS ? ns : LEAST_TRAP_NS;
}

void overhead_open(struct overhead *o)
{
	o->attacher.nlinks = 0;
	o->attacher.live = NULL;
	o->spoil = xcalloc(1, SPOIL);
	o->probe = probe_self(o);
	o->trap_ns = USUAL_TRAP_NS;
	overhead_measure(o);
	o->read = clock_ns();
}

/* ---- What each process pays */

struct overhead_process *overhead_find(const struct overhead *o, int pid)
{
	struct overhead_process *p;

	HASH_FIND_INT(o->all, &pid, p);
	return p;
}

double overhead_program_ns(const struct overhead_process *p)
{
	return p->hits.hits ? (double)p->hits.ns * OVERHEAD_STEP / p->hits.hits : 0;
}

static void add(struct overhead *o, int pid, const struct overhead_hits *now)
{
	struct overhead_process *p = overhead_find(o, pid);
	unsigned long long hits, entries;
	double cost;

	if (!p) {
		p = xcalloc(1, sizeof(*p));
		p->pid = pid;
		HASH_ADD_INT(o->all, pid, p);
	}
	hits = now->hits - p->hits.hits;
	entries = now->entries - p->hits.entries;
	p->hits = *now;
	cost = o->trap_ns + overhead_program_ns(p);
	p->ns = hits * cost;
	p->launch_ns = entries * cost;
	p->total += p->ns;
	p->round = o->round;
}

static void forget(struct overhead *o, struct overhead_process *p)
{
	if (!bpf_map__delete_elem(o->map, &p->pid, sizeof(p->pid), 0))
		shares_give_back(o->shares, p->hits.share);
	HASH_DEL(o->all, p);
	free(p);
}

static void overhead_forget_ended(struct overhead *o)
{
	struct overhead_process *p, *next;
	bool all = clock_ns() - o->checked >= CHECK_NS;

	if (all)
		o->checked = clock_ns();
	HASH_ITER(hh, o->all, p, next)
		if (p->round != o->round || (all && kill(p->pid, 0) && errno == ESRCH))
			forget(o, p);
}

double overhead_read(struct overhead *o)
{
	unsigned long long began = o->read;
	struct overhead_hits hits;
	int pid, *last = NULL, next;

	o->read = clock_ns();
	o->round++;
	for (int n = 0; n < OVERHEAD_PROCESSES && !bpf_map__get_next_key(o->map, last, &next, sizeof(next)); n++) {
		pid = next;
		last = &pid;
		if (!bpf_map__lookup_elem(o->map, &pid, sizeof(pid), &hits, sizeof(hits), 0))
			add(o, pid, &hits);
	}
	overhead_forget_ended(o);
	return o->read - began;
}

void overhead_free(struct overhead *o)
{
	HASH_FREE(o->all);
	if (o->probe)
		attach_remove(o->probe);
	o->probe = NULL;
	free(o->spoil);
}
