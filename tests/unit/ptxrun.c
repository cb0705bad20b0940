/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Runs PTX on the interpreter.
 *
 *   ptxrun FILE.ptx                        loads it and lists its kernels
 *   ptxrun --run KERNEL FILE.ptx           runs a kernel with made-up arguments
 *   ptxrun --all FILE.ptx                  runs all of them
 *   ptxrun --same ORIGINAL REWRITTEN       runs each kernel of both, and compares what they leave in memory
 *
 * Exits with 1 if the file does not load, a kernel has a fault, or memory differs.  --same counts a fault of both as the
 * same. */
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

static int run(const char *file, const char *name)
{
	struct world *world = world_new();
	struct interp_module *m = load(file, world);
	struct interp_kernel *k;
	int status = 0;

	for (unsigned i = 0; (k = interp_kernel_at(m, i)); i++) {
		struct interp_info info;
		struct interp_fault fault = { .kind = INTERP_OK };
		struct interp_grid grid = { .grid = { 2, 1, 1 }, .block = { 64, 1, 1 }, .shared = 8192, .sms = 3, .id = 1,
					    .start_ns = 1000000007 };

		interp_info(k, &info);
		if (name && strcmp(name, info.name))
			continue;
		world_fill(world);
		world_launch(world, k, &grid, &fault);
		printf("%s %s: %llu instructions, %llu ns%s%s\n", fault_name(fault.kind), info.name,
		       (unsigned long long)grid.instructions, (unsigned long long)(grid.end_ns - grid.start_ns),
		       fault.kind ? ": " : "", fault.kind ? fault.text : "");
		status |= fault.kind != INTERP_OK;
	}
	interp_free(m);
	world_free(world);
	return status;
}

static int compare(struct world *worlds[2], struct interp_kernel *kernels[2], const unsigned *grid, const unsigned *block)
{
	struct interp_fault faults[2] = { { .kind = INTERP_OK }, { .kind = INTERP_OK } };

	for (int i = 0; i < 2; i++) {
		struct interp_grid g = { .shared = 8192, .sms = 3, .id = 1, .start_ns = 1000000007 };

		memcpy(g.grid, grid, sizeof g.grid);
		memcpy(g.block, block, sizeof g.block);
		world_fill(worlds[i]);
		world_launch(worlds[i], kernels[i], &g, &faults[i]);
	}
	if (faults[0].kind != faults[1].kind) {
		printf("  %s: %s\n  %s: %s\n", fault_name(faults[0].kind), faults[0].kind ? faults[0].text : "",
		       fault_name(faults[1].kind), faults[1].kind ? faults[1].text : "");
		return 2;
	}
	if (faults[0].kind)
		return 1;
	return world_same(worlds[0], worlds[1]) ? 0 : 2;
}

static int same(const char *original, const char *rewritten)
{
	static const unsigned grids[2][3] = { { 2, 1, 1 }, { 3, 2, 1 } }, blocks[2][3] = { { 64, 1, 1 }, { 37, 1, 1 } };
	struct world *worlds[2] = { world_new(), world_new() };
	struct interp_module *modules[2] = { load(original, worlds[0]), load(rewritten, worlds[1]) };
	struct interp_kernel *kernels[2];
	int status = 0;

	for (unsigned i = 0; (kernels[0] = interp_kernel_at(modules[0], i)); i++) {
		static const char *const results[] = { "same", "fault", "differs" };
		struct interp_info info;
		int worst = 0;

		interp_info(kernels[0], &info);
		kernels[1] = interp_kernel(modules[1], info.name);
		if (!kernels[1]) {
			printf("missing %s\n", info.name);
			status = 1;
			continue;
		}
		for (int shape = 0; shape < 2; shape++) {
			int result = compare(worlds, kernels, grids[shape], blocks[shape]);

			worst = result > worst ? result : worst;
		}
		printf("%s %s\n", results[worst], info.name);
		status |= worst == 2;
	}
	for (int i = 0; i < 2; i++) {
		interp_free(modules[i]);
		world_free(worlds[i]);
	}
	return status;
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 4 && !strcmp(argv[1], "--same"))
		return same(argv[2], argv[3]);
	if (argc == 4 && !strcmp(argv[1], "--run"))
		return run(argv[3], argv[2]);
	if (argc == 3 && !strcmp(argv[1], "--all"))
		return run(argv[2], NULL);
	if (argc == 2 && *argv[1] != '-')
		return list(argv[1]);
	fprintf(stderr, "usage: ptxrun [--run KERNEL | --all] FILE.ptx | ptxrun --same ORIGINAL.ptx REWRITTEN.ptx\n");
	return 2;
}
