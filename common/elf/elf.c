/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/die.h"
#include "elf/elf.h"
#include "elf/elf_file.h"
#include "elf/elf_needed.h"
#include "elf/elf_version.h"

enum { CODE = 32, MAX_PROBES = 4096 };

/* Returns the length of an instruction that can be skipped, else 0. */
static size_t insn_skippable(const unsigned char *c, size_t len)
{
	if (len >= 4 && !memcmp(c, "\xf3\x0f\x1e\xfa", 4))
		return 4;			/* endbr64 */
	if (len >= 10 && c[0] == 0x81 && c[1] == 0x3d)
		return 10;			/* cmpl $imm32, disp32(%rip) */
	if (len >= 7 && (c[0] == 0x83 || c[0] == 0x80) && c[1] == 0x3d)
		return 7;			/* cmpl, cmpb $imm8, disp32(%rip) */
	if (len >= 8 && c[0] == 0x48 && c[1] == 0x83 && c[2] == 0x3d)
		return 8;			/* cmpq $imm8, disp32(%rip) */
	if (len >= 2 && c[0] == 0x66 && c[1] == 0x90)
		return 2;			/* xchg %ax, %ax */
	return 0;
}

static bool insn_emulated(const unsigned char *c, size_t len)
{
	if (len < 2)
		return false;
	return (c[0] >= 0x50 && c[0] <= 0x57) ||			/* push */
	       (c[0] == 0x41 && c[1] >= 0x50 && c[1] <= 0x57) ||
	       c[0] == 0x90 || c[0] == 0xe8 || c[0] == 0xe9 || c[0] == 0xeb ||
	       (c[0] >= 0x70 && c[0] <= 0x7f) ||			/* jcc */
	       (c[0] == 0x0f && c[1] >= 0x80 && c[1] <= 0x8f);
}

size_t uprobe_cheap_offset(const unsigned char *code, size_t len)
{
	size_t at = 0, step;

	while (!insn_emulated(code + at, len - at)) {
		step = insn_skippable(code + at, len - at);
		if (!step)
			return 0;
		at += step;
	}
	return at;
}

static int by_id(const void *a, const void *b)
{
	const struct elf_probe *p = a, *q = b;

	return p->id != q->id ? p->id - q->id : (p->symbol > q->symbol) - (p->symbol < q->symbol);
}

struct scanning {
	struct elf_scan *scan;
	const struct elf_file *file;
	int (*find)(const void *ctx, const char *symbol);
	const void *ctx;
	int fd;
};

/* Most symbols of most files are not: it is asked of each. */
static bool may_be_cuda(const char *name)
{
	if (name[0] == '_' && name[1] == '_')
		name += 2;
	return name[0] == 'c' && name[1] == 'u';
}

static bool on_symbol(void *ctx, const char *name, const Elf64_Sym *sym)
{
	struct scanning *s = ctx;
	struct elf_scan *scan = s->scan;
	unsigned char code[CODE];
	unsigned long long offset;
	char plain[128];
	size_t len;
	ssize_t n;
	int id;

	if (*name == '_' && !strcmp(name, "_dl_debug_state") && elf_file_offset(s->file, sym->st_value, &offset))
		scan->linker = offset;
	if (!may_be_cuda(name))
		return true;
	len = strcspn(name, "@");	/* cudaMalloc@@libcudart.so.12 */
	if (len >= sizeof(plain))
		return true;
	memcpy(plain, name, len);
	plain[len] = 0;
	id = s->find(s->ctx, plain);
	if (id < 0 || !elf_file_offset(s->file, sym->st_value, &offset))
		return true;
	n = pread(s->fd, code, sizeof(code), offset);
	if (n <= 0)
		return true;
	if (scan->n == MAX_PROBES)
		return false;
	scan->probes = xrealloc(scan->probes, scan->n + 1, sizeof(*scan->probes));
	scan->probes[scan->n++] = (struct elf_probe){
		.id = id, .symbol = offset, .offset = offset + uprobe_cheap_offset(code, n),
		.exported = !s->file->strings[1],	/* .symtab is read after .dynsym */
	};
	return true;
}

/* Keeps one of each function found in both tables, and one of functions that share their code. */
static void drop_doubles(struct elf_scan *scan)
{
	int kept = 0;

	qsort(scan->probes, scan->n, sizeof(*scan->probes), by_id);
	for (int i = 0; i < scan->n; i++) {
		int j = 0;

		while (j < kept && scan->probes[j].symbol != scan->probes[i].symbol)
			j++;
		if (j == kept)
			scan->probes[kept++] = scan->probes[i];
		else
			scan->probes[j].exported |= scan->probes[i].exported;
	}
	scan->n = kept;
}

void elf_scan(int fd, int (*find)(const void *ctx, const char *symbol), const void *ctx,
	      struct elf_scan *scan)
{
	struct scanning s = { .scan = scan, .find = find, .ctx = ctx, .fd = fd };
	struct elf_file file;

	memset(scan, 0, sizeof(*scan));
	scan->error = elf_file_open(&file, fd);
	if (scan->error)
		return;
	s.file = &file;
	scan->runtime = elf_cudart_version(&file);
	scan->fatbin = elf_file_section(&file, ".nv_fatbin");
	file.exports_only = elf_file_has_many_names(&file) && elf_needs(&file, "libcudart.so.");
	scan->error = elf_file_symbols(&file, STT_FUNC, on_symbol, &s);
	if (file.bare && !scan->error && !scan->n)
		scan->error = "has no section headers and exports no CUDA functions";
	elf_file_close(&file);
	scan->functions = scan->n;
	if (scan->n)
		drop_doubles(scan);
}
