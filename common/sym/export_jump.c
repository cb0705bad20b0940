/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "abi/stack_frames.h"
#include "base/die.h"
#include "elf/cfi.h"
#include "elf/elf.h"
#include "proc/vm_read.h"
#include "sym/export_jump.h"
#include "sym/frames.h"
#include "sym/module.h"
#include "sym/syms.h"

enum { JE = 0x74, INT3 = 0xcc };

/* Exports looked at, names tried, as a file may have a million, and words of their code. */
enum { MOST = 1024, MOST_TRIED = 4096, WORDS = 3, BYTES = WORDS * 8 };

struct exports {
	int pid, n;
	const char *names[MOST];
	unsigned long long at[MOST], slots[MOST], targets[MOST];
};

static void collect(struct exports *e, const struct stack *stack, struct module *m,
		    bool (*wanted)(const void *ctx, const char *name), const void *ctx)
{
	const struct elf_symbols *functions = module_functions(m);
	unsigned long long offset;
	const char *name;
	int tried = 0;

	for (size_t i = 0; functions && e->n < MOST && tried < MOST_TRIED && (name = elf_symbols_get(functions, i, &offset)); i++) {
		if (strncmp(name, "cu", 2))
			continue;
		tried++;
		if (!wanted(ctx, name))
			continue;
		e->names[e->n] = name;
		e->at[e->n] = syms_address(stack->syms, e->pid, m, offset);
		e->n += e->at[e->n] != 0;
	}
}

/* Returns the address of the slot; 0 if the code is not of this kind.  A probe has replaced the first
 * byte of the branch. */
static unsigned long long slot_of(unsigned long long at, const unsigned char *code)
{
	for (int i = 2; i + 6 <= BYTES; i++) {
		int distance;

		if ((code[i - 2] != JE && code[i - 2] != INT3) || code[i] != 0xff || code[i + 1] != 0x25)
			continue;
		memcpy(&distance, code + i + 2, sizeof(distance));
		return at + i + 6 + distance;
	}
	return 0;
}

static bool read_targets(struct exports *e, struct helper_pool *helpers)
{
	unsigned long long *at = xcalloc(e->n, BYTES), *code = xcalloc(e->n, BYTES);
	bool ok;

	for (int i = 0; i < e->n * WORDS; i++)
		at[i] = e->at[i / WORDS] + i % WORDS * 8;
	ok = !vm_read_words(helpers, e->pid, at, e->n * WORDS, code);
	for (int i = 0; ok && i < e->n; i++)
		e->slots[i] = slot_of(e->at[i], (const unsigned char *)&code[i * WORDS]);
	free(at);
	free(code);
	return ok && !vm_read_words(helpers, e->pid, e->slots, e->n, e->targets);
}

/* Sets where the code of the frame's function is in the process, by its unwind information. */
static bool code_of(const struct stack *stack, int pid, int i, unsigned long long *start,
		    unsigned long long *end)
{
	unsigned long long offset = (stack->frames[i].at & ~FRAME_EXACT) - 1, last;
	struct module *m = frame_module(&stack->frames[i]);
	const struct cfi *cfi = NULL;

	if (!module_cfi(m, offset, &cfi) || !cfi)
		return false;
	cfi_range(cfi, start, &last);
	*end = last - *start;
	*start = syms_address(stack->syms, pid, m, *start);
	*end += *start;
	return *start;
}

const char *export_jump(const struct stack *stack, int pid, int i,
			bool (*wanted)(const void *ctx, const char *name), const void *ctx)
{
	struct module *m = i < stack->n ? frame_module(&stack->frames[i]) : NULL;
	unsigned long long start, end;
	const char *name = NULL;
	struct exports *e;

	if (!m || stack->frames[i].kind != FRAME_KIND_NATIVE || !strstr(m->path, "/libcuda.so") ||
	    !code_of(stack, pid, i, &start, &end))
		return NULL;
	e = xcalloc(1, sizeof(*e));
	e->pid = pid;
	collect(e, stack, m, wanted, ctx);
	if (e->n && !read_targets(e, syms_looks(stack->syms)))
		e->n = 0;
	for (int k = 0; k < e->n && !name; k++)
		if (e->targets[k] >= start && e->targets[k] < end)
			name = e->names[k];
	free(e);
	return name;
}
