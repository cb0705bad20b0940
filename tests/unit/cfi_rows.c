/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/clock.h"
#include "cfi.h"
#include "elf/cfi_block.h"
#include "elf/elf_file.h"
#include "tests/cfi_machine.h"

/* As readelf, which does not tell what has no rule from what is undefined. */
static void print_cell(const struct cfi_cell *cell, bool same_is_u)
{
	switch (cell->kind) {
	case CFI_UNDEFINED:
		printf(" u");
		break;
	case CFI_SAME:
		printf(same_is_u ? " u" : " s");
		break;
	case CFI_SAVED:
		printf(" c%+d", cell->value);
		break;
	case CFI_VALUE:
		printf(" v%+d", cell->value);
		break;
	case CFI_REGISTER:
		printf(" r%d", cell->value);
		break;
	case CFI_SAVED_EXPR:
		printf(" exp");
		break;
	case CFI_VALUE_EXPR:
		printf(" vexp");
		break;
	}
}

static void print_rule(unsigned long long at, const struct cfi_cell *rule)
{
	printf("%016llx", at);
	if (!rule)
		printf(" none");
	else if (rule->kind == CFI_CFA)
		printf(" %s%+d", CFI_NAMES[rule->reg], rule->value);
	else
		printf(" exp");
	for (size_t i = 0; rule && i < sizeof(CFI_COLUMNS) / sizeof(*CFI_COLUMNS); i++) {
		struct cfi_cell cell = cfi_cell_of(rule, CFI_COLUMNS[i]);

		print_cell(&cell, true);
	}
	putchar('\n');
}

int cfi_print_rows(const char *file)
{
	int fd = open(file, O_RDONLY);
	unsigned long long addr, offset, loaded = 0, asked = 0;
	struct elf_file elf;
	struct cfi *c = NULL;

	if (fd < 0 || elf_file_open(&elf, fd))
		return 1;
	while (scanf("%llx", &addr) == 1) {
		asked++;
		if (!elf_file_offset(&elf, addr, &offset))
			continue;
		if (!c || !cfi_covers(c, offset)) {
			free(c);
			c = cfi_load(fd, offset);
			loaded++;
		}
		print_rule(addr, c ? cfi_rule_at(c, offset) : NULL);
	}
	fprintf(stderr, "%llu rows asked, %llu functions loaded\n", asked, loaded);
	free(c);
	elf_file_close(&elf);
	close(fd);
	return 0;
}

static bool read_zero(void *ctx, unsigned long long at, unsigned long long *word)
{
	(void)ctx;
	*word = at + 64;
	return true;
}

int cfi_print_times(const char *file)
{
	int fd = open(file, O_RDONLY), n = 0;
	unsigned long long addr, start, load = 0, most = 0, bad, size = 0;
	const struct cfi_memory memory = { read_zero, NULL };
	double step = 0;
	struct cfi *c;

	while (scanf("%llx", &addr) == 1) {
		start = clock_ns();
		c = cfi_load(fd, addr);
		start = clock_ns() - start;
		load += start;
		most = start > most ? start : most;
		n += !!c;
		if (!c)
			continue;
		size += cfi_size(c);
		start = clock_ns();
		for (int i = 0; i < 1000; i++) {
			struct cfi_regs regs = { .known = ~0ull };

			cfi_step(c, addr, &regs, &memory, &bad);
		}
		step += (clock_ns() - start) / 1000.0;
		free(c);
	}
	printf("%d functions: load %.1f us, most %.1f us; %.0f bytes; step %.0f ns\n", n,
	       load / 1e3 / (n + !n), most / 1e3, size / (double)(n + !n), step / (n + !n));
	return 0;
}
