/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include <unwind.h>
#include "cfi.h"
#include "elf/cfi.h"

enum { MAX_FRAMES = 512, MAX_CACHE = 4096, TRAP_FLAG = 0x100 };

/* The registers that functions preserve, rip and rsp. */
static const int KEPT[] = { CFI_RBX, CFI_RBP, CFI_RSP, CFI_R12, CFI_R13, CFI_R14, CFI_R15, CFI_RIP };
enum { NKEPT = sizeof(KEPT) / sizeof(*KEPT) };

struct truth {
	struct cfi_regs frames[MAX_FRAMES];
	size_t n;
};

static _Unwind_Reason_Code add(struct _Unwind_Context *context, void *arg)
{
	struct truth *t = arg;
	struct cfi_regs *regs = &t->frames[t->n];
	unsigned long long ip = _Unwind_GetIP(context);

	if (!ip || t->n == MAX_FRAMES)
		return ip ? _URC_END_OF_STACK : _URC_NO_REASON;
	for (int i = 0; i < NKEPT; i++)
		if (KEPT[i] != CFI_RIP && KEPT[i] != CFI_RSP)
			regs->r[KEPT[i]] = _Unwind_GetGR(context, KEPT[i]);
	regs->r[CFI_RIP] = ip;
	regs->r[CFI_RSP] = _Unwind_GetCFA(context);
	t->n++;
	return _URC_NO_REASON;
}

/* The rules that were loaded, by address. */
static struct cached { struct cfi *cfi; unsigned long long start, end, shift; } cache[MAX_CACHE];
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

static const struct cached *rules_of(unsigned long long pc)
{
	for (size_t i = 0; i < ncached; i++)
		if (pc - cache[i].shift >= cache[i].start && pc - cache[i].shift < cache[i].end)
			return &cache[i];
	return load(pc);
}

static bool read_word(void *ctx, unsigned long long at, unsigned long long *word)
{
	struct iovec to = { word, sizeof(*word) }, from = { (void *)at, sizeof(*word) };

	(void)ctx;
	return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == sizeof(*word);
}

static bool same(const struct cfi_regs *mine, const struct cfi_regs *truth, size_t i)
{
	bool ok = true;

	for (int k = 0; k < NKEPT; k++) {
		if (mine->known & 1u << KEPT[k] && mine->r[KEPT[k]] == truth->r[KEPT[k]])
			continue;
		fprintf(stderr, "frame %zu: register %d is %#llx, not %#llx (rip %#llx)\n", i, KEPT[k],
			mine->r[KEPT[k]], truth->r[KEPT[k]], truth->r[CFI_RIP]);
		ok = false;
	}
	return ok;
}

/* Applies the simple rule, as a BPF program would. */
static bool simple_agrees(const struct cfi_simple *s, const struct cfi_regs *from,
			  const struct cfi_regs *to)
{
	unsigned long long cfa = from->r[s->rbp ? CFI_RBP : CFI_RSP] + s->cfa, rip, rbp;

	if (!read_word(NULL, cfa - 8, &rip))
		return false;
	rbp = from->r[CFI_RBP];
	if (s->rbp_slot && !read_word(NULL, cfa - 8 * s->rbp_slot, &rbp))
		return false;
	return rip == to->r[CFI_RIP] && cfa == to->r[CFI_RSP] && rbp == to->r[CFI_RBP];
}

/* Returns false where the stack ends. */
static bool step(struct cfi_count *count, struct cfi_regs *regs, bool *exact)
{
	const struct cfi_memory memory = { read_word, NULL };
	const struct cached *c = rules_of(regs->r[CFI_RIP] - !*exact);
	unsigned long long off = c ? regs->r[CFI_RIP] - !*exact - c->shift : 0, bad;
	const struct cfi_regs before = *regs;
	enum cfi_step status = c ? cfi_step(c->cfi, off, regs, &memory, &bad) : CFI_BAD;
	struct cfi_simple simple;
	bool is_simple = c && cfi_simple(c->cfi, off, &simple);

	if (status == CFI_END)
		count->complete++;
	if ((status == CFI_END) != (is_simple && simple.end) ||
	    (status == CFI_CALLER && is_simple && !simple_agrees(&simple, &before, regs))) {
		fprintf(stderr, "rip %#llx: the simple rule is another one\n", before.r[CFI_RIP]);
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
	fprintf(stderr, "ends at frame %zu of %zu, rip %#llx\n", i - first, t->n - first,
		t->frames[i - 1].r[CFI_RIP]);
	count->wrong++;
}

static struct cfi_regs registers(const ucontext_t *u)
{
	static const int FROM[CFI_REGISTERS] = {
		REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8, REG_R9,
		REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP,
	};
	struct cfi_regs regs = { .known = (1u << CFI_REGISTERS) - 1 };

	for (int i = 0; i < CFI_REGISTERS; i++)
		regs.r[i] = u->uc_mcontext.gregs[FROM[i]];
	return regs;
}

void cfi_compare(struct cfi_count *count, const ucontext_t *u)
{
	struct cfi_regs regs = registers(u);
	struct truth *t = calloc(1, sizeof(*t));
	size_t i = 0;

	_Unwind_Backtrace(add, t);
	while (i < t->n && t->frames[i].r[CFI_RIP] != regs.r[CFI_RIP])
		i++;
	if (i == t->n) {
		fprintf(stderr, "libgcc does not reach rip %#llx\n", regs.r[CFI_RIP]);
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
	regs = registers(&u);
	c = rules_of(regs.r[CFI_RIP]);
	/* libgcc is called elsewhere in this function: its caller is the first to be compared */
	if (c && cfi_step(c->cfi, regs.r[CFI_RIP] - c->shift, &regs, &memory, &bad) == CFI_CALLER) {
		compare(count, regs, t, 1, false);
	} else {
		fprintf(stderr, "no caller\n");
		count->wrong++;
	}
	free(t);
}

static struct cfi_count *stepping;

/* int3 switches stepping on and off. */
static void on_trap(int signal, siginfo_t *info, void *context)
{
	ucontext_t *u = context;

	(void)signal;
	if (info->si_code == TRAP_TRACE)
		cfi_compare(stepping, u);
	else
		u->uc_mcontext.gregs[REG_EFL] ^= TRAP_FLAG;
}

void cfi_compare_stepping(struct cfi_count *count, void (*fn)(struct cfi_count *),
			  struct cfi_count *arg)
{
	struct sigaction trap = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };

	sigaction(SIGTRAP, &trap, NULL);
	stepping = count;
	__asm__ volatile("int3" ::: "memory");
	fn(arg);
	__asm__ volatile("int3" ::: "memory");
	signal(SIGTRAP, SIG_DFL);
}
