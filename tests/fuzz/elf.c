/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Fuzzes an ELF file. */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>
#include "elf/elf.h"
#include "elf/elf_debug.h"
#include "fuzz.h"

static int find_id(const void *ctx, const char *symbol)
{
	(void)ctx;
	CHECK(strlen(symbol) < 128 && !strchr(symbol, '@'));
	return (int)(strlen(symbol) % 5) - 1;
}

static void scan_file(int fd, size_t size)
{
	struct elf_scan scan;

	elf_scan(fd, find_id, NULL, &scan);
	CHECK(!scan.linker || scan.linker < size);
	for (int i = 0; i < scan.n; i++) {
		const struct elf_probe *p = &scan.probes[i];

		CHECK(p->id >= 0 && p->symbol < size && p->offset >= p->symbol);
		CHECK(p->offset < p->symbol + 32);
		CHECK(!i || p[-1].id <= p->id);
		for (int j = 0; j < i; j++)
			CHECK(scan.probes[j].symbol != p->symbol);
	}
	free(scan.probes);
}

/* Only what is in the file is probed. */
static void scan_usdt(int fd, size_t size)
{
	struct elf_scan scan = { 0 };

	elf_usdt_scan(fd, find_id, NULL, &scan);
	CHECK(scan.n <= 64);
	for (int i = 0; i < scan.n; i++) {
		const struct elf_probe *p = &scan.probes[i];

		CHECK(p->usdt && p->id >= 0 && p->offset < size && p->semaphore < size && !p->returns);
		for (int j = 0; j < USDT_ARGS; j++)
			CHECK(p->args.args[j].kind <= USDT_MEMORY && abs(p->args.args[j].size) <= 8);
	}
	free(scan.probes);
}

static void find_symbols(int fd, size_t size)
{
	struct elf_symbols *s = elf_functions_load(fd, -1);
	unsigned long long off;
	const char *name;

	if (!s)
		return;
	for (size_t at = 0; at <= size; at += 1 + size / 64) {
		name = elf_symbols_find(s, at, &off);
		CHECK(!name || (off <= at && strlen(name) && strlen(name) < size));
		CHECK(!name || !elf_symbols_name_offset(s, at, &off));
	}
	elf_symbols_find(s, ~0ull, &off);
	CHECK(elf_symbols_size(s));
	free(s);
}

/* A file as its own debug file. */
static void find_debug(int fd)
{
	struct elf_symbols *s = elf_functions_load(fd, fd);
	struct elf_debug d;

	if (elf_debug_read(fd, &d))
		CHECK(d.id_size <= sizeof(d.id) && elf_debug_same(&d, &d) == (d.id_size > 0));
	free(s);
}

static void find_variables(int fd, size_t size)
{
	struct elf_symbols *s = elf_variables_load(fd, "le", 16);
	unsigned long long addr;
	const char *name;
	size_t n = 0;

	for (; s && (name = elf_symbols_get(s, n, &addr)); n++)
		CHECK(!strcmp(name + strlen(name) - 2, "le"));
	CHECK(n <= 16);
	for (size_t at = 0; s && at <= size; at += 1 + size / 8)
		elf_symbols_address(s, at, &addr);
	free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("fuzz", MFD_CLOEXEC);
	CHECK(!ftruncate(fd, 0) && pwrite(fd, data, size, 0) == (ssize_t)size);
	scan_file(fd, size);
	scan_usdt(fd, size);
	find_symbols(fd, size);
	find_variables(fd, size);
	find_debug(fd);
	return 0;
}
