/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Runs PTX on the interpreter.
 *
 *   ptxrun FILE.ptx                        loads it and lists its kernels, and instructions that are not known
 *   ptxrun --run KERNEL [option…] FILE.ptx runs a kernel with made-up arguments
 *   ptxrun --all [option…] FILE.ptx        runs all of them
 *   ptxrun --same ORIGINAL REWRITTEN       runs each kernel of both, and compares what they leave in memory;
 *                                          variables that only REWRITTEN has are left out
 *
 *   --grid X,Y,Z  --block X,Y,Z  --shared BYTES  --cooperative  --sms N   the launch
 *   --words N   prints nothing but the first N words (u32) of the buffer of the first argument, which is 0 before
 *
 * Exits with 1 if the file does not load, a kernel has a fault, or memory differs.  --same counts a fault of both as the
 * same. */
#include <getopt.h>
#include "machine.h"
#include "ptxrun_world.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_file(const char *name, size_t *size)
{
	FILE *f = fopen(name, "rb");
	char *text = NULL;
	size_t max = 0;

	*size = 0;
	if (!f) {
		perror(name);
		exit(1);
	}
	do {
		max = max ? max * 2 : 1 << 16;
		text = realloc(text, max);
		if (!text)
			exit(1);
		*size += fread(text + *size, 1, max - *size, f);
	} while (*size == max);
	fclose(f);
	return text;
}

static struct interp_module *load(const char *name, struct world *world)
{
	char why[300];
	size_t size;
	char *text = read_file(name, &size);
	struct interp_module *m = interp_load(text, size, &world->host, why, sizeof why);

	free(text);
	if (!m) {
		fprintf(stderr, "ptxrun: %s: %s\n", name, why);
		exit(1);
	}
	return m;
}

/* Those that would be a fault. */
static void list_unknown(const struct interp_kernel *k)
{
	const struct insn *insns = k->module->insns;
	unsigned unknown = 0, first = 0;

	for (unsigned i = k->end; i-- > k->first; )
		if (insns[i].exec == exec_bad) {
			unknown++;
			first = i;
		}
	if (unknown)
		printf("  %u instructions not known: %.*s\n", unknown, (int)insns[first].text_size, insns[first].text);
}

static int list(const char *file)
{
	struct world *world = world_new();
	struct interp_module *m = load(file, world);
	struct interp_kernel *k;

	for (unsigned i = 0; (k = interp_kernel_at(m, i)); i++) {
		struct interp_info info;

		interp_info(k, &info);
		printf("%s: %u parameters of %zu bytes", info.name, info.num_params, info.param_size);
		for (unsigned p = 0; p < info.num_params; p++)
			printf("%s%zu%s", p ? " " : ": ", info.params[p].size, info.params[p].pointer ? "p" : "");
		printf(", %zu shared, %zu local, %u registers, %u threads\n", info.shared, info.local, info.registers,
		       info.max_threads);
		list_unknown(k);
	}
	interp_free(m);
	world_free(world);
	return 0;
}

/* The name of a fault; "done" for none. */
static const char *fault_name(enum interp_fault_kind kind)
{
	static const char *const names[] = { "done", "address", "misaligned", "trap", "assert", "instruction", "pc", "stuck",
					     "resources", "memory" };

	return names[kind];
}

struct options {
	const char *kernel;
	bool all, same;
	unsigned words;
	struct interp_grid grid;
};

static int run(const char *file, const struct options *options)
{
	struct world *world = world_new();
	struct interp_module *m = load(file, world);
	struct interp_kernel *k;
	int status = 0, ran = 0;

	for (unsigned i = 0; (k = interp_kernel_at(m, i)); i++) {
		struct interp_fault fault = { .kind = INTERP_OK };
		struct interp_grid grid = options->grid;

		if (options->kernel && strcmp(options->kernel, k->name))
			continue;
		ran++;
		world_fill(world);
		if (options->words)
			memset(world_argument(world, 0), 0, 4 * (size_t)options->words);
		world_launch(world, k, k, &grid, &fault);
		for (unsigned w = 0; w < options->words && !fault.kind; w++)
			printf("%u\n", ((uint32_t *)world_argument(world, 0))[w]);
		if (!options->words || fault.kind)
			printf("%s %s: %llu instructions, %llu ns%s%s\n", fault_name(fault.kind), k->name,
			       (unsigned long long)grid.instructions, (unsigned long long)(grid.end_ns - grid.start_ns),
			       fault.kind ? ": " : "", fault.kind ? fault.text : "");
		status |= fault.kind != INTERP_OK;
	}
	interp_free(m);
	world_free(world);
	if (!ran)
		fprintf(stderr, "ptxrun: %s: no such kernel\n", file);
	return status || !ran;
}

/* What the variables of a module had when it was loaded. */
struct initial {
	struct interp_module *module;
	unsigned char **values;
};

static struct initial initial_of(struct interp_module *m)
{
	struct initial initial = { m, calloc(m->num_variables + 1, sizeof *initial.values) };

	for (unsigned i = 0; initial.values && i < m->num_variables; i++) {
		initial.values[i] = malloc(m->variables[i].size + 1);
		if (!initial.values[i])
			exit(1);
		memcpy(initial.values[i], (void *)(uintptr_t)m->variables[i].addr, m->variables[i].size);
	}
	return initial;
}

static void initial_restore(const struct initial *initial)
{
	for (unsigned i = 0; i < initial->module->num_variables; i++) {
		const struct variable *v = &initial->module->variables[i];

		memcpy((void *)(uintptr_t)v->addr, initial->values[i], v->size);
	}
}

static void initial_free(struct initial *initial)
{
	for (unsigned i = 0; i < initial->module->num_variables; i++)
		free(initial->values[i]);
	free(initial->values);
	interp_free(initial->module);
}

/* Return true if both have changed a variable in the same way: initial values may be addresses, which differ. */
static bool variable_same(const struct initial *a, const struct initial *b, unsigned i, unsigned k)
{
	const struct variable *x = &a->module->variables[i], *y = &b->module->variables[k];
	const unsigned char *p = (void *)(uintptr_t)x->addr, *q = (void *)(uintptr_t)y->addr;

	if (x->size != y->size)
		return false;
	for (size_t at = 0; at < x->size; at++)
		if (p[at] != q[at] && (p[at] != a->values[i][at] || q[at] != b->values[k][at]))
			return false;
	return true;
}

static bool variables_same(const struct initial *a, const struct initial *b)
{
	for (unsigned i = 0; i < a->module->num_variables; i++) {
		unsigned k = 0;

		while (k < b->module->num_variables && strcmp(a->module->variables[i].name, b->module->variables[k].name))
			k++;
		if (k == b->module->num_variables || !variable_same(a, b, i, k)) {
			printf("  variable %s\n", a->module->variables[i].name);
			return false;
		}
	}
	return true;
}

enum result { SAME, FAULT, DIFFERS };

static enum result compare(struct world *world, const struct initial *modules, struct interp_kernel **kernels,
			   const unsigned *grid, const unsigned *block)
{
	struct interp_fault faults[2] = { { .kind = INTERP_OK }, { .kind = INTERP_OK } };

	for (int i = 0; i < 2; i++) {
		struct interp_grid g = { .shared = 8192, .sms = 1, .id = 1, .start_ns = 1000000007 };

		memcpy(g.grid, grid, sizeof g.grid);
		memcpy(g.block, block, sizeof g.block);
		/* one warp after another, so that it does not count how long each instruction takes: with made-up
		 * arguments, warps may write to the same place */
		modules[i].module->turn = modules[i].module->warp_turn = 10000000;
		world_fill(world);
		initial_restore(&modules[i]);
		world_launch(world, kernels[0], kernels[i], &g, &faults[i]);
		if (!i)
			world_save(world);
	}
	if (faults[0].kind != faults[1].kind) {
		printf("  %s: %s\n  %s: %s\n", fault_name(faults[0].kind), faults[0].kind ? faults[0].text : "",
		       fault_name(faults[1].kind), faults[1].kind ? faults[1].text : "");
		return DIFFERS;
	}
	if (faults[0].kind)
		return FAULT;
	return world_saved(world) && variables_same(&modules[0], &modules[1]) ? SAME : DIFFERS;
}

static int same(const char *original, const char *rewritten)
{
	static const unsigned grids[2][3] = { { 2, 1, 1 }, { 3, 2, 1 } }, blocks[2][3] = { { 64, 1, 1 }, { 37, 1, 1 } };
	static const char *const results[] = { "same", "fault", "differs" };
	struct world *world = world_new();
	struct initial modules[2] = { initial_of(load(original, world)), initial_of(load(rewritten, world)) };
	struct interp_kernel *kernels[2];
	int status = 0;

	for (unsigned i = 0; (kernels[0] = interp_kernel_at(modules[0].module, i)); i++) {
		enum result worst = SAME;

		kernels[1] = interp_kernel(modules[1].module, kernels[0]->name);
		if (!kernels[1]) {
			printf("missing %s\n", kernels[0]->name);
			status = 1;
			continue;
		}
		for (int shape = 0; shape < 2; shape++) {
			enum result result = compare(world, modules, kernels, grids[shape], blocks[shape]);

			worst = result > worst ? result : worst;
		}
		printf("%s %s\n", results[worst], kernels[0]->name);
		status |= worst == DIFFERS;
	}
	initial_free(&modules[0]);
	initial_free(&modules[1]);
	world_free(world);
	return status;
}

static bool three(const char *text, unsigned *n)
{
	int used = 0;

	n[1] = n[2] = 1;
	return sscanf(text, "%u%n,%u%n,%u%n", &n[0], &used, &n[1], &used, &n[2], &used) > 0 && !text[used];
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "run", required_argument, NULL, 'r' }, { "all", no_argument, NULL, 'a' }, { "same", no_argument, NULL, 's' },
		{ "grid", required_argument, NULL, 'g' }, { "block", required_argument, NULL, 'b' },
		{ "shared", required_argument, NULL, 'm' }, { "cooperative", no_argument, NULL, 'c' },
		{ "sms", required_argument, NULL, 'n' }, { "words", required_argument, NULL, 'w' }, { NULL, 0, NULL, 0 },
	};
	struct options o = { .grid = { .grid = { 2, 1, 1 }, .block = { 64, 1, 1 }, .shared = 8192, .sms = 3, .id = 1,
				       .start_ns = 1000000007 } };
	bool wrong = false;
	int c;

	setvbuf(stdout, NULL, _IOLBF, 0);
	while ((c = getopt_long(argc, argv, "", longs, NULL)) >= 0)
		switch (c) {
		case 'r': o.kernel = optarg; break;
		case 'a': o.all = true; break;
		case 's': o.same = true; break;
		case 'g': wrong |= !three(optarg, o.grid.grid); break;
		case 'b': wrong |= !three(optarg, o.grid.block); break;
		case 'm': o.grid.shared = strtoul(optarg, NULL, 0); break;
		case 'c': o.grid.cooperative = true; break;
		case 'n': o.grid.sms = (unsigned)strtoul(optarg, NULL, 0); break;
		case 'w': o.words = (unsigned)strtoul(optarg, NULL, 0); break;
		default: wrong = true;
		}
	if (wrong || argc - optind != 1 + o.same) {
		fprintf(stderr, "usage: ptxrun [--run KERNEL | --all] [option...] FILE.ptx | --same ORIGINAL.ptx REWRITTEN.ptx\n");
		return 2;
	}
	if (o.same)
		return same(argv[optind], argv[optind + 1]);
	return o.kernel || o.all ? run(argv[optind], &o) : list(argv[optind]);
}
