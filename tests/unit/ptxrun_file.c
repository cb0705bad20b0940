/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "ptxrun_file.h"
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

/* Declares variables before all others. */
static char *move(char *text, size_t *size)
{
	static const char more[] = "\n.shared .align 16 .b8 ptxrun_moved_shared[8192];\n"
				   ".global .align 16 .b8 ptxrun_moved_global[4112];\n";
	char *at = memmem(text, *size, ".address_size 64", 16), *moved = malloc(*size + sizeof more);
	size_t before = at ? (size_t)(at - text) + 16 : 0;

	if (!at || !moved) {
		free(moved);
		return text;
	}
	memcpy(moved, text, before);
	memcpy(moved + before, more, sizeof more - 1);
	memcpy(moved + before + sizeof more - 1, text + before, *size - before);
	*size += sizeof more - 1;
	free(text);
	return moved;
}

struct interp_module *load_file(const char *name, struct world *world, bool moved)
{
	char why[300];
	size_t size;
	char *text = read_file(name, &size);
	struct interp_module *m;

	if (moved)
		text = move(text, &size);
	m = interp_load(text, size, &world->host, why, sizeof why);
	free(text);
	if (!m) {
		fprintf(stderr, "ptxrun: %s: %s\n", name, why);
		exit(1);
	}
	return m;
}

const char *fault_name(enum interp_fault_kind kind)
{
	static const char *const names[] = { "done", "address", "misaligned", "trap", "assert", "instruction", "pc", "stuck",
					     "resources", "memory" };

	return names[kind];
}

/* Or the module has functions that do. */
bool kernel_reads_clocks(const struct interp_kernel *kernel)
{
	const struct interp_module *m = kernel->module;
	unsigned first = kernel->calls ? 0 : kernel->first, end = kernel->calls ? m->num_insns : kernel->end;

	for (unsigned i = first; i < end; i++)
		if (memmem(m->insns[i].text, m->insns[i].text_size, "%clock", 6) ||
		    memmem(m->insns[i].text, m->insns[i].text_size, "%globaltimer", 12))
			return true;
	return false;
}
