/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Fuzzes a perf map. */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>
#include "sym/perf_map.h"
#include "fuzz.h"

enum { ENTRIES = 24, SPACE = 64 };

static struct perf_map *parse(const void *text, size_t size)
{
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("fuzz", MFD_CLOEXEC);
	CHECK(!ftruncate(fd, 0) && pwrite(fd, text, size, 0) == (ssize_t)size);
	return perf_map_load(fd);
}

/* Whatever is in the file, names have no newline and are not empty, and a distance is within the size. */
static void any_text(const uint8_t *data, size_t size)
{
	struct perf_map *m = parse(data, size);
	unsigned long long off, addr;
	const char *name;

	for (int i = 0; m && i < 64; i++) {
		addr = i < 32 ? (unsigned)i * 8 : ~0ull >> (i - 32);
		off = 0;
		name = perf_map_find(m, addr, &off);
		CHECK(!name || (*name && !strchr(name, '\n') && strlen(name) < PERF_MAP_NAME && off <= addr));
	}
	CHECK(!m || perf_map_size(m) < PERF_MAP_NAME * (size + 64));
	free(m);
}

struct listed { unsigned start, size; };

static const struct listed *newest(const struct listed *all, int n, unsigned addr)
{
	while (n--)
		if (addr >= all[n].start && addr - all[n].start < all[n].size)
			return &all[n];
	return NULL;
}

/* The newest of the entries that have an address is found for it. */
static void overlapping(struct input in)
{
	struct listed all[ENTRIES];
	char text[ENTRIES * 32];
	unsigned long long off;
	struct perf_map *m;
	size_t size = 0;
	int n = 0;

	for (; n < ENTRIES && in.left; n++) {
		all[n].start = 1 + take(&in, 1) % SPACE;
		all[n].size = take(&in, 1) % SPACE;
		size += sprintf(text + size, "%x %x f%d\n", all[n].start, all[n].size, n);
	}
	m = parse(text, size);
	for (unsigned addr = 0; addr < 2 * SPACE + 2; addr++) {
		const struct listed *want = newest(all, n, addr);
		const char *name = m ? perf_map_find(m, addr, &off) : NULL;

		CHECK(!name == !want);
		CHECK(!name || (atoi(name + 1) == want - all && off == addr - want->start));
	}
	free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	any_text(data, size);
	overlapping((struct input){ data, size });
	return 0;
}
