/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Runs PTX on the interpreter.
 *
 *   ptxrun FILE.ptx                        loads it and lists its kernels, and instructions that are not known
 *   ptxrun --run KERNEL [option…] FILE.ptx runs a kernel with made-up arguments
 *   ptxrun --all [option…] FILE.ptx        runs all of them
 *   ptxrun --same ORIGINAL REWRITTEN       runs each kernel of both in several shapes, and compares what they leave in
 *                                          memory: see ptxrun_same.h; variables that only REWRITTEN has are left out
 *
 *   --grid X,Y,Z  --block X,Y,Z  --shared BYTES  --cooperative  --sms N   the launch
 *   --words N   prints nothing but the first N words (u32) of the buffer of the first argument, which is 0 before
 *
 * Exits with 1 if the file does not load, a kernel has a fault, or --same finds a
 * difference.  --same counts a fault of both as the same. */
#include <getopt.h>
#include "machine.h"
#include "ptxrun_file.h"
#include "ptxrun_same.h"
#include "ptxrun_world.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	struct interp_module *m = load_file(file, world, false);
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

struct options {
	const char *kernel;
	bool all, same;
	unsigned words;
	struct interp_grid grid;
};

static int run(const char *file, const struct options *options)
{
	struct world *world = world_new();
	struct interp_module *m = load_file(file, world, false);
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
