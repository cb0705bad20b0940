/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <unwind.h>
#include "cfi.h"
#include "elf/cfi.h"
#include "tests/cfi_machine.h"

enum { MAX_FRAMES = 512, MAX_CACHE = 4096 };

/* Return true for the registers that are compared: those that functions preserve, pc and stack pointer.  libgcc does not
 * keep a return address apart from pc. */
static bool is_kept(int reg)
{
	return reg == UNWIND_PC || reg == UNWIND_SP || (UNWIND_PRESERVED >> reg & 1 && reg != UNWIND_RA);
}

struct truth {
	struct cfi_regs frames[MAX_FRAMES];
	size_t n;
};

static _Unwind_Reason_Code add(struct _Unwind_Context *context, void *arg)
{
	struct truth *t = arg;
	struct cfi_regs *regs = &t->frames[t->n];
	int interrupted = 0;
	unsigned long long ip = _Unwind_GetIPInfo(context, &interrupted);

	if (!ip || t->n == MAX_FRAMES)
		return ip ? _URC_END_OF_STACK : _URC_NO_REASON;
	for (int i = 0; i < UNWIND_REGISTERS; i++)
		if (is_kept(i) && i != UNWIND_PC && i != UNWIND_SP)
			regs->r[i] = _Unwind_GetGR(context, i);
	regs->r[UNWIND_PC] = ip;
	regs->r[UNWIND_SP] = _Unwind_GetCFA(context);
	regs->known = interrupted && !CFI_INTERRUPTED_SP ? ~(1ull << UNWIND_SP) : ~0ull;
	t->n++;
	return _URC_NO_REASON;
}

/* The rules that were loaded, by address. */
static struct cached { const struct cfi *cfi; unsigned long long start, end, shift; } cache[MAX_CACHE];
static size_t ncached;

static const struct cached *load(unsigned long long pc)
{
	struct cached *c = &cache[ncached];
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[4096], path[4096] = "";
	unsigned long long from, to, off;
	bool found = false;

	while (!found && maps && fgets(line, sizeof(line), maps))
		found = sscanf(line, "%llx-%llx %*s %llx %*s %*s %4095s", &from, &to, &off, path) == 4 &&
			pc >= from && pc < to && *path == '/';
	if (maps)
		fclose(maps);
	if (found) {
		int fd = open(path, O_RDONLY);

		c->cfi = cfi_load(fd, pc - from + off);
		close(fd);
	}
	if (!found || !c->cfi || ncached == MAX_CACHE - 1)
		return NULL;
	cfi_range(c->cfi, &c->start, &c->end);
	c->shift = from - off;
	ncached++;
	return c;
}

/* Of the kernel's code that a signal handler returns to: pc may be 1 less than that of an instruction. */
static const struct cached *trampoline_at(unsigned long long pc)
{
	static struct cached c;
	const unsigned long long *at = (const void *)((pc + 3) & ~3ull);

	c = (struct cached){ .cfi = cfi_trampoline(), .shift = pc };
	return UNWIND_TRAMPOLINE && *at == UNWIND_TRAMPOLINE ? &c : NULL;
}

static const struct cached *rules_of(unsigned long long pc)
{
	const struct cached *c;

	for (size_t i = 0; i < ncached; i++)
		if (pc - cache[i].shift >= cache[i].start && pc - cache[i].shift < cache[i].end)
			return &cache[i];
	c = load(pc);
	return c ? c : trampoline_at(pc);
}

static bool read_word(void *ctx, unsigned long long at, unsigned long long *word)
{
	static int ends[2];

	(void)ctx;
	if (!ends[1] && pipe(ends))
		abort();
	/* qemu-user has no process_vm_readv() */
	return write(ends[1], (const void *)at, sizeof(*word)) == sizeof(*word) && read(ends[0], word, sizeof(*word)) == sizeof(*word);
}

static bool same(const struct cfi_regs *mine, const struct cfi_regs *truth, size_t i)
{
	bool ok = true;

	for (int k = 0; k < UNWIND_REGISTERS; k++) {
		if (!is_kept(k) || !(truth->known >> k & 1) || (mine->known >> k & 1 && mine->r[k] == truth->r[k]))
			continue;
		fprintf(stderr, "frame %zu: register %d is %#llx, not %#llx (pc %#llx)\n", i, k, mine->r[k], truth->r[k],
			truth->r[UNWIND_PC]);
		ok = false;
	}
	return ok;
}

/* Applies the simple rule, as a BPF program would. */
static bool simple_agrees(const struct cfi_simple *s, const struct cfi_regs *from,
			  const struct cfi_regs *to)
{
	unsigned long long cfa = from->r[s->fp ? UNWIND_FP : UNWIND_SP] + s->cfa, pc, fp;

	if (!read_word(NULL, cfa - 8 * UNWIND_RA_WORDS(s->fp_slot), &pc))
		return false;
	fp = from->r[UNWIND_FP];
	if (s->fp_slot && !read_word(NULL, cfa - 8 * s->fp_slot, &fp))
		return false;
	return CODE_ADDRESS(pc) == to->r[UNWIND_PC] && cfa == to->r[UNWIND_SP] && fp == to->r[UNWIND_FP];
}

/* Returns false where the stack ends. */
static bool step(struct cfi_count *count, struct cfi_regs *regs, bool *exact)
{
	const struct cfi_memory memory = { read_word, NULL };
	const struct cached *c = rules_of(regs->r[UNWIND_PC] - !*exact);
	unsigned long long off = c ? regs->r[UNWIND_PC] - !*exact - c->shift : 0, bad;
	const struct cfi_regs before = *regs;
	enum cfi_step status = c ? cfi_step(c->cfi, off, regs, &memory, &bad) : CFI_BAD;
	struct cfi_simple simple;
	bool is_simple = c && cfi_simple(c->cfi, off, &simple);

	if (status == CFI_END)
		count->complete++;
	if ((status == CFI_END) != (is_simple && simple.end) ||
	    (status == CFI_CALLER && is_simple && !simple_agrees(&simple, &before, regs))) {
		fprintf(stderr, "pc %#llx: the simple rule is another one\n", before.r[UNWIND_PC]);
		count->wrong++;
	}
	if (status != CFI_CALLER)
		return false;
	count->simple += is_simple;
	count->frames++;
	*exact = cfi_signal_frame(c->cfi);
	count->signals += *exact;
	return true;
}

static void compare(struct cfi_count *count, struct cfi_regs regs, const struct truth *t, size_t i,
		    bool exact)
{
	size_t first = i;

	for (; i < t->n; i++) {
		if (!same(&regs, &t->frames[i], i - first)) {
			count->wrong++;
			break;
		}
		if (!step(count, &regs, &exact)) {
			i++;
			break;
		}
	}
	count->stacks++;
	count->most = i - first > count->most ? i - first : count->most;
	if (i == t->n)
		return;
	fprintf(stderr, "ends at frame %zu of %zu, pc %#llx\n", i - first, t->n - first,
		t->frames[i - 1].r[UNWIND_PC]);
	count->wrong++;
}

void cfi_compare(struct cfi_count *count, const ucontext_t *u)
{
	struct cfi_regs regs = cfi_registers(u);
	struct truth *t = calloc(1, sizeof(*t));
	size_t i = 0;

	_Unwind_Backtrace(add, t);
	while (i < t->n && t->frames[i].r[UNWIND_PC] != regs.r[UNWIND_PC])
		i++;
	if (i == t->n) {
		fprintf(stderr, "libgcc does not reach pc %#llx\n", regs.r[UNWIND_PC]);
		count->wrong++;
	}
	compare(count, regs, t, i, true);
	free(t);
}

__attribute__((noinline)) void cfi_compare_here(struct cfi_count *count)
{
	const struct cfi_memory memory = { read_word, NULL };
	struct truth *t = calloc(1, sizeof(*t));
	struct cfi_regs regs;
	const struct cached *c;
	unsigned long long bad;
	ucontext_t u;

	getcontext(&u);
	_Unwind_Backtrace(add, t);
	regs = cfi_registers(&u);
	c = rules_of(regs.r[UNWIND_PC]);
	/* libgcc is called elsewhere in this function: its caller is the first to be compared */
	if (c && cfi_step(c->cfi, regs.r[UNWIND_PC] - c->shift, &regs, &memory, &bad) == CFI_CALLER) {
		compare(count, regs, t, 1, false);
	} else {
		fprintf(stderr, "no caller\n");
		count->wrong++;
	}
	free(t);
}

static struct cfi_count *stepping;

/* cfi_trap() switches stepping on and off. */
static void on_trap(int signal, siginfo_t *info, void *context)
{
	ucontext_t *u = context;

	(void)signal;
	if (info->si_code == TRAP_TRACE)
		cfi_compare(stepping, u);
	else
		cfi_step_toggle(u);
}

bool cfi_steps(void)
{
	return CFI_STEPS;
}

void cfi_compare_stepping(struct cfi_count *count, void (*fn)(struct cfi_count *),
			  struct cfi_count *arg)
{
	struct sigaction trap = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };

	sigaction(SIGTRAP, &trap, NULL);
	stepping = count;
	cfi_trap();
	fn(arg);
	cfi_trap();
	signal(SIGTRAP, SIG_DFL);
}
