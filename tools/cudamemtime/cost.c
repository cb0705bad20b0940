/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/die.h"
#include "base/util.h"
#include "cli/out.h"
#include "cli/row.h"
#include "cudamemtime/cost.h"
#include "cudamemtime/ptxas.h"

/* A block of the largest size must be able to run, whatever probes take. */
enum { SM_REGISTERS = 65536, BLOCK_WARPS = 32, REGISTERS_MAX = 255 };

/* A warp's registers are given in units of 256, warps in fours: CUDA's occupancy calculator. */
enum { UNIT = 256, GRANULE = 8, LANES = 32, FOURS = 4 };

struct cost {
	unsigned long long image, registers[2], spills[2], stack[2], instructions[2], warps[2];
	const char *arch, *kernel, *symbol;
	char text[5][24];	/* for the columns */
	const char *column[5];
};

OUT_WORD(cost_type, "cost");

#define AT(f) offsetof(struct cost, f)
static const struct field fields[] = {
	{ "type", NULL, 0, &cost_type, 0 },	/* a kernel without and with probes, with --list --verbose */
	{ "image", NULL, 0, OUT_UINT, AT(image) },	/* number of the image in the file */
	{ "arch", NULL, 0, OUT_STR, AT(arch) },	/* that it was assembled for */
	{ "kernel", "KERNEL", -32, OUT_STR, AT(kernel) },
	{ "symbol", NULL, 0, OUT_STR, AT(symbol) },
	{ NULL, "REGISTERS", -10, OUT_STR, AT(column[0]) },
	{ NULL, "SPILLS", -12, OUT_STR, AT(column[1]) },
	{ NULL, "STACK", -12, OUT_STR, AT(column[2]) },
	{ NULL, "INSTRUCTIONS", -13, OUT_STR, AT(column[3]) },
	{ NULL, "WARPS", -8, OUT_STR, AT(column[4]) },
	{ "registers", NULL, 0, OUT_UINT, AT(registers[0]) },	/* of a thread */
	{ "registers_measured", NULL, 0, OUT_UINT, AT(registers[1]) },	/* with probes */
	{ "spill_bytes", NULL, 0, OUT_UINT, AT(spills[0]) },	/* bytes: spilled by a thread */
	{ "spill_bytes_measured", NULL, 0, OUT_UINT, AT(spills[1]) },	/* bytes: with probes */
	{ "stack_bytes", NULL, 0, OUT_UINT, AT(stack[0]) },	/* bytes: of a thread */
	{ "stack_bytes_measured", NULL, 0, OUT_UINT, AT(stack[1]) },	/* bytes: with probes */
	{ "instructions", NULL, 0, OUT_UINT, AT(instructions[0]) },	/* of the kernel */
	{ "instructions_measured", NULL, 0, OUT_UINT, AT(instructions[1]) },	/* with probes */
	{ "warps", NULL, 0, OUT_UINT, AT(warps[0]) },	/* that an SM has registers for */
	{ "warps_measured", NULL, 0, OUT_UINT, AT(warps[1]) },	/* with probes */
	{ 0 }
};

/* Returns how many warps an SM can hold, as far as registers tell. */
static unsigned warps(const char *arch, unsigned registers)
{
	unsigned sm = strtoul(arch + strcspn(arch, "0123456789"), NULL, 10), unit, n;
	unsigned most = sm == 75 ? 32 : sm == 86 || sm == 87 || sm == 89 || sm / 10 == 12 ? 48 : 64;

	unit = (registers * LANES + UNIT - 1) / UNIT * UNIT;
	n = unit ? SM_REGISTERS / unit / FOURS * FOURS : most;
	return n < most ? n : most;
}

/* The architecture that a module is for: ".target sm_90a, …". */
static char *session_of(const char *text, size_t size)
{
	const char *at = memmem(text, size, ".target", 7);
	char word[16] = "";

	if (!at || sscanf(at, ".target %15[a-z0-9_]", word) != 1)
		return NULL;
	return xstrdup(word);
}

struct limits {
	const struct ptxas_kernels *before;
	const char *arch;
	bool keep;
	struct rewrite *rewrite;
};

/* As the injected library does: the most with which as many warps fit as before, or one block. */
static unsigned registers(void *ctx, const char *name, size_t n)
{
	const struct limits *l = ctx;
	const struct ptxas_kernel *k = ptxas_get(l->before, name, n);
	unsigned fit, most;

	if (!k)
		return 0;
	fit = warps(l->arch, k->registers);
	if (!l->keep && fit > BLOCK_WARPS)
		fit = BLOCK_WARPS;
	most = SM_REGISTERS / (fit * LANES) / GRANULE * GRANULE;
	return most < REGISTERS_MAX ? most : REGISTERS_MAX;
}

static bool selects(void *ctx, const char *name, size_t n)
{
	const struct limits *l = ctx;

	return l->rewrite->options.selects(l->rewrite->options.ctx, name, n);
}

static void print(struct rewrite *r, const struct ptxas_kernel *a, const struct ptxas_kernel *b, const char *arch,
		  unsigned image)
{
	struct cost c = {
		.image = image, .registers = { a->registers, b->registers }, .spills = { a->spills, b->spills },
		.stack = { a->stack, b->stack }, .instructions = { a->instructions, b->instructions },
		.warps = { warps(arch, a->registers), warps(arch, b->registers) },
		.arch = arch, .kernel = kernels_get(r->kernels, a->symbol)->name, .symbol = a->symbol,
	};
	const unsigned long long *const values[] = { c.registers, c.spills, c.stack, c.instructions, c.warps };

	for (int i = 0; i < 5; i++) {
		snprintf(c.text[i], sizeof(c.text[i]), "%llu -> %llu", values[i][0], values[i][1]);
		c.column[i] = c.text[i];
	}
	out_row(fields, &c);
}

static void compare(struct rewrite *r, const char *ptxas, const char *arch, const char *text, size_t size,
		    unsigned image)
{
	struct ptxas_kernels before, after = { 0 };
	struct limits limits = { &before, arch, r->keep_registers, r };
	struct instrument options = r->options;
	struct instrumented done = { 0 };
	char *why = ptxas_run(&before, ptxas, arch, text, size);

	options.selects = selects;
	options.registers = registers;
	options.ctx = &limits;
	if (!why && instrument(&done, text, size, &options) == INSTRUMENT_DONE)
		why = ptxas_run(&after, ptxas, arch, done.text, done.size);
	if (why)
		warning(0, "image %u: ptxas -arch %s: %s", image, arch, why);
	else if (!out_is_json())
		printf("\nwithout and with probes, %s:\n", arch);
	if (!why)
		out_head(fields);
	for (size_t i = 0; i < before.n && !why; i++) {
		const struct ptxas_kernel *k = &before.kernel[i], *b = ptxas_get(&after, k->symbol, strlen(k->symbol));

		if (b && options.selects(&limits, k->symbol, strlen(k->symbol)))
			print(r, k, b, arch, image);
	}
	free(why);
	free(done.text);
	ptxas_free(&before);
	ptxas_free(&after);
}

void cost_print(struct rewrite *r, const char *text, size_t size, const char *arch, unsigned image)
{
	char *ptxas = ptxas_find(), *target = arch ? xstrdup(arch) : session_of(text, size);

	if (!ptxas)
		warning(0, "there is no ptxas in $PATH or /usr/local/cuda/bin: what probes cost is unknown");
	else if (target)
		compare(r, ptxas, target, text, size, image);
	free(ptxas);
	free(target);
}
