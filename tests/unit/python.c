/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* python VERSION FIRST_LINE TABLE - prints the line of each code unit by a line table of Python, in hexadecimal,
 * up to the last range's; or python layout VERSION, where this version's offsets are, if it is known
 * without asking the process; or python layout VERSION 0|1, if the process says that it is that version, and
 * with 1 without a GIL; or python eval FILE ADDRESS SIZE, the parts elsewhere that this function jumps to;
 * or python try NAME FILE, whether a file of this name is looked at. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "elf/elf_file.h"
#include "proc/helper_pool.h"
#include "python/code.h"
#include "python/eval_code.h"
#include "python/interpreter.h"

static size_t read_hex(const char *text, unsigned char *bytes)
{
	size_t n = strlen(text) / 2;

	for (size_t i = 0; i < n; i++) {
		const char digits[] = { text[2 * i], text[2 * i + 1], 0 };

		bytes[i] = strtoul(digits, NULL, 16);
	}
	return n;
}

static int print_layout(unsigned version, const char *free_threaded)
{
	unsigned long long words[PYTHON_DEBUG_WORDS] = { 0 };
	struct python_process p = { 0 };

	if (free_threaded) {
		memcpy(words, "xdebugpy", sizeof(*words));
		words[1] = (unsigned long long)version << 16;
		words[2] = atoi(free_threaded);
	}
	if (!layout_choose(&p, version, words))
		return 1;
	printf("%x frame %u code %u runtime %u version %u kind %u\n", p.at.version, p.frame_size, p.code_size,
	       p.at.interpreters, p.at.code_version, p.at.text_kind);
	return 0;
}

static int print_parts(const char *file, unsigned long long addr, unsigned long long size)
{
	struct eval_code e = { 0 };
	struct elf_file f = { 0 };

	if (elf_file_open(&f, open(file, O_RDONLY | O_CLOEXEC)))
		return 1;
	eval_code_find(&e, &f, addr, size);
	for (int i = 0; i < EVAL_PARTS && e.parts[i].end; i++)
		printf("%llx to %llx: %d%d%d%d\n", e.parts[i].start, e.parts[i].end, eval_code_has(&e, e.parts[i].start - 1),
		       eval_code_has(&e, e.parts[i].start), eval_code_has(&e, e.parts[i].end - 1),
		       eval_code_has(&e, e.parts[i].end));
	elf_file_close(&f);
	return 0;
}

static int print_tried(const char *name)
{
	struct interpreter_file f = { 0 };
	struct helper_pool helpers = HELPER_POOL_INIT;
	const struct interpreter *found =
		interpreter_get(&f, &helpers, getpid(), name, open(name, O_PATH | O_CLOEXEC));

	printf("%s: %s\n", name, found ? "an interpreter" : "none");
	return 0;
}

int main(int argc, char **argv)
{
	static unsigned char table[1 << 16];
	static struct line_range ranges[sizeof(table) + 2];
	size_t n;

	if (argc > 2 && !strcmp(argv[1], "layout"))
		return print_layout(strtoul(argv[2], NULL, 16), argv[3]);
	if (argc == 3 && !strcmp(argv[1], "try"))
		return print_tried(argv[2]);
	if (argc == 5 && !strcmp(argv[1], "eval"))
		return print_parts(argv[2], strtoull(argv[3], NULL, 16), strtoull(argv[4], NULL, 16));
	if (argc != 4 || strlen(argv[3]) > 2 * sizeof(table))
		return 2;
	n = line_table_read(strtoul(argv[1], NULL, 16), atoi(argv[2]), table, read_hex(argv[3], table), ranges);
	for (unsigned unit = 0; n && unit <= ranges[n - 1].unit; unit++)
		printf("%u\n", line_table_find(ranges, n, unit));
	return 0;
}
