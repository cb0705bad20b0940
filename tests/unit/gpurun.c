/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* gpurun FILE.ptx KERNEL LAUNCHES BLOCKS THREADS [ARG]: runs a kernel of lanes_ptx.h, in which a probe is, on the
 * interpreter, and prints what the probe left in the module: a line for each slot that is not empty and each record.
 * ARG is the 32-bit parameter that follows the addresses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "abi/gpu_variables.h"
#include "ptxrun_world.h"

static char *read_file(const char *name, size_t *size)
{
	FILE *f = fopen(name, "rb");
	char *text;

	if (!f || fseek(f, 0, SEEK_END)) {
		perror(name);
		exit(1);
	}
	*size = ftell(f);
	rewind(f);
	text = calloc(1, *size + 1);
	*size = fread(text, 1, *size, f);
	fclose(f);
	return text;
}

/* Returns a variable by the beginning of its name, which is followed by the module's hash; sets *n to how many. */
static const void *variable(struct interp_module *m, const char *text, const char *begin, size_t one, size_t *n)
{
	char name[64] = "";
	const char *at = strstr(text, begin);
	uint64_t addr;

	if (at)
		snprintf(name, sizeof(name), "%.*s", (int)strspn(at, "_abcdefghijklmnopqrstuvwxyz0123456789"), at);
	addr = interp_variable(m, name, n);
	*n = addr ? *n / one : 0;
	return (const void *)(uintptr_t)addr;
}

static void print_slots(const struct gpu_slot *slot, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned long long any = slot[i].sum | slot[i].max;

		for (int j = 0; j < GPU_BUCKETS; j++)
			any |= slot[i].hist[j];
		if (!any)
			continue;
		printf("slot %zu sum %llu min %u max %u:", i, slot[i].sum, ~slot[i].low, slot[i].max);
		for (int j = 0; j < GPU_BUCKETS; j++)
			printf(" %llu", slot[i].hist[j]);
		putchar('\n');
	}
}

static void print_records(const struct gpu_record *r, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (r[i].value & GPU_LAP)
			printf("record time %llu value %#x site %u sm %u warp %u block %u grid %u lap %d\n", r[i].time,
			       r[i].value & ~GPU_LAP, r[i].site, r[i].smid & ~GPU_LAP, r[i].warp, r[i].block, r[i].grid,
			       r[i].smid >> 31);
}

static void launch(struct interp_kernel *k, struct interp_grid *grid, const char *arg)
{
	struct interp_fault fault = { 0 };
	struct interp_info info;
	unsigned word = arg ? strtoul(arg, NULL, 0) : 0;
	static char memory[2][1 << 22] __attribute__((aligned(512)));
	char params[32] = { 0 };

	interp_info(k, &info);
	for (unsigned i = 0; i < info.num_params; i++) {
		const void *from = info.params[i].size == 8 ? (const void *)&(char *){ memory[i & 1] } : &word;

		memcpy(params + info.params[i].offset, from, info.params[i].size);
	}
	if (interp_launch(k, grid, params, &fault) != INTERP_OK) {
		printf("fault: %s\n", fault.text);
		exit(1);
	}
}

static bool mapped(void *ctx, uint64_t addr, uint64_t *low, uint64_t *high)
{
	(void)ctx, (void)addr;
	*low = 4096;
	*high = ~0ull;
	return true;
}

int main(int argc, char **argv)
{
	struct world *world = world_new();
	char why[300], *text;
	size_t size, n;
	struct interp_module *m;
	struct interp_kernel *k;
	const void *at;

	if (argc < 6) {
		fputs("usage: gpurun FILE.ptx KERNEL LAUNCHES BLOCKS THREADS [ARG]\n", stderr);
		return 2;
	}
	text = read_file(argv[1], &size);
	world->host.mapped = mapped;
	m = interp_load(text, size, &world->host, why, sizeof(why));
	k = m ? interp_kernel(m, argv[2]) : NULL;
	if (!k) {
		fprintf(stderr, "gpurun: %s: %s\n", argv[1], m ? "no such kernel" : why);
		return 1;
	}
	for (unsigned i = 0; i < strtoul(argv[3], NULL, 0); i++) {
		struct interp_grid grid = {
			.grid = { strtoul(argv[4], NULL, 0), 1, 1 }, .block = { strtoul(argv[5], NULL, 0), 1, 1 },
			.sms = 4, .id = i + 1, .start_ns = 1000000ull * (i + 1),
		};

		launch(k, &grid, argv[6]);
	}
	at = variable(m, text, "__cuprobe_slots_", sizeof(struct gpu_slot), &n);
	print_slots(at, n);
	at = variable(m, text, "__cuprobe_records_", sizeof(struct gpu_record), &n);
	print_records(at, n);
	interp_free(m);
	return 0;
}
