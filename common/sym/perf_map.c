/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/die.h"
#include "elf/elf_bytes.h"
#include "sym/perf_map.h"
#include "sym/perf_map_cover.h"

/* From BCC's src/cc/bcc_perf_map.h, which is not installed with its library.  The result of the callback
 * is not used.  A line is read whole, however long it is; one whose numbers are wrong is skipped, and after one
 * whose number is too large also those with 2^64 - 1 (errno is not cleared); the name may be empty. */
int bcc_perf_map_foreach_sym(const char *path,
			     int (*callback)(const char *name, uint64_t start, uint64_t size, void *ctx),
			     void *ctx);

struct perf_map {
	size_t n, strings;	/* bytes */
	struct covered covered[];	/* disjoint, by address; the strings follow */
};

struct builder {
	struct function *functions;
	char *strings;
	size_t n, room, size, strings_room;
};

static int add(const char *name, uint64_t start, uint64_t size, void *ctx)
{
	struct builder *b = ctx;
	size_t len = strlen(name) + 1;

	if (!*name || !size || b->n == PERF_MAP_LINES)
		return 0;
	if (b->n == b->room) {
		b->room = b->room ? 2 * b->room : 256;
		b->functions = xrealloc(b->functions, b->room, sizeof(*b->functions));
	}
	while (b->size + len > b->strings_room) {
		b->strings_room = b->strings_room ? 2 * b->strings_room : 4096;
		b->strings = xrealloc(b->strings, b->strings_room, 1);
	}
	b->functions[b->n] = (struct function){
		start, size < ~0ull - start ? start + size : ~0ull, b->size, b->n,
	};
	b->n++;
	memcpy(b->strings + b->size, name, len);
	b->size += len;
	return 0;
}

/* Returns where the last lines begin that are read. */
static size_t skip_first(const char *text, size_t size)
{
	size_t at = size;

	for (int lines = 0; at; lines++) {
		const char *newline = memrchr(text, '\n', at - 1);

		if (lines == PERF_MAP_LINES)
			break;
		at = newline ? newline + 1 - text : 0;
	}
	return at;
}

/* Cuts the lines that are too long; returns the size of the rest. */
static size_t cut_lines(char *text, size_t size)
{
	char *to = text, *from = text, *end = text + size;

	while (from < end) {
		char *newline = memchr(from, '\n', end - from), *next = newline ? newline + 1 : end;
		size_t len = (newline ?: end) - from;

		len = len < PERF_MAP_LINE ? len : PERF_MAP_LINE;
		memmove(to, from, len);
		to += len;
		if (newline)
			*to++ = '\n';
		from = next;
	}
	return to - text;
}

/* BCC's parser takes a name of a file. */
static void parse(struct builder *b, const char *text, size_t size)
{
	int fd = memfd_create("perf map", MFD_CLOEXEC);
	size_t done = 0;
	char name[32];
	ssize_t n;

	while (fd >= 0 && done < size && (n = write(fd, text + done, size - done)) > 0)
		done += n;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	if (size && done == size)
		bcc_perf_map_foreach_sym(name, add, b);
	if (fd >= 0)
		close(fd);
}

static struct perf_map *build(struct builder *b)
{
	struct perf_map *m = NULL;
	struct covered *covered;
	size_t n;

	covered = perf_map_cover(b->functions, b->n, &n);
	if (n) {
		m = xcalloc(1, sizeof(*m) + n * sizeof(*covered) + b->size);
		m->n = n;
		m->strings = b->size;
		memcpy(m->covered, covered, n * sizeof(*covered));
		memcpy(m->covered + n, b->strings, b->size);
	}
	free(covered);
	free(b->functions);
	free(b->strings);
	return m;
}

struct perf_map *perf_map_parse(char *text, size_t size)
{
	size_t skipped = skip_first(text, size);
	struct builder b = { 0 };

	parse(&b, text + skipped, cut_lines(text + skipped, size - skipped));
	return build(&b);
}

/* A file's end is likely to be of the newest functions. */
struct perf_map *perf_map_load(int fd)
{
	struct elf_bytes file = { .fd = fd };
	struct perf_map *m = NULL;
	char *text, *first;
	struct stat st;
	size_t size;

	if (fstat(fd, &st) || st.st_size <= 0)
		return NULL;
	file.size = st.st_size;
	size = file.size < PERF_MAP_BYTES ? file.size : PERF_MAP_BYTES;
	text = elf_bytes_part(&file, file.size - size, size);
	first = text && size < file.size ? memchr(text, '\n', size) : text;
	if (first)
		m = perf_map_parse(first, text + size - first);
	free(text);
	return m;
}

size_t perf_map_size(const struct perf_map *m)
{
	return sizeof(*m) + m->n * sizeof(*m->covered) + m->strings;
}

const char *perf_map_find(const struct perf_map *m, unsigned long long addr, unsigned long long *off)
{
	size_t low = 0, high = m->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (m->covered[mid].end <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == m->n || m->covered[low].start > addr)
		return NULL;
	*off = addr - m->covered[low].begin;
	return (const char *)(m->covered + m->n) + m->covered[low].name;
}
