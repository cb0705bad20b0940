/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/die.h"
#include "sym/perf_map.h"

/* STEPS: of functions that begin before an address, so many are compared. */
enum { STEPS = 1024 };

/* From BCC's src/cc/bcc_perf_map.h, which is not installed with its library.  The result of the callback is
 * not used.  A line is skipped if its numbers are wrong, and after one whose number is too large also if it is
 * 2^64 - 1 (errno is not cleared); the name may be empty. */
int bcc_perf_map_foreach_sym(const char *path,
			     int (*callback)(const char *name, uint64_t start, uint64_t size, void *ctx),
			     void *ctx);

struct function {
	unsigned long long start, end;
	unsigned long long last;	/* the greatest end up to here in the order of addresses */
	unsigned name, age;		/* name: offset from the names; age: the greatest is the newest */
};

struct perf_map {
	size_t n, names;		/* names: bytes */
	struct function functions[];	/* by start; the names follow */
};

struct line {
	unsigned long long start, end;
	char *name;
};

/* The last lines are from first to end. */
struct lines {
	struct line *all;
	size_t first, end, room, names;
};

static void drop_first(struct lines *l)
{
	l->names -= strlen(l->all[l->first].name) + 1;
	free(l->all[l->first++].name);
}

static struct line *new_line(struct lines *l)
{
	if (l->end == l->room && l->first > l->room / 2) {
		l->end -= l->first;
		memmove(l->all, l->all + l->first, l->end * sizeof(*l->all));
		l->first = 0;
	} else if (l->end == l->room) {
		l->room = l->room ? 2 * l->room : 256;
		l->all = xrealloc(l->all, l->room, sizeof(*l->all));
	}
	return &l->all[l->end++];
}

static int perf_map_add(const char *name, uint64_t start, uint64_t size, void *ctx)
{
	size_t len = strnlen(name, PERF_MAP_NAME - 1);
	struct lines *l = ctx;
	struct line *line;

	if (!len || !size)
		return 0;
	while (l->end - l->first == PERF_MAP_LINES || l->names + len + 1 > PERF_MAP_NAMES)
		drop_first(l);
	line = new_line(l);
	*line = (struct line){ start, size < ~0ull - start ? start + size : ~0ull, xcalloc(1, len + 1) };
	memcpy(line->name, name, len);
	l->names += len + 1;
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct function *f = a, *g = b;

	return (f->start > g->start) - (f->start < g->start);
}

static struct perf_map *build(struct lines *l)
{
	struct perf_map *m = xcalloc(1, sizeof(*m) + (l->end - l->first) * sizeof(*m->functions) + l->names);
	char *names = (char *)(m->functions + (l->end - l->first));
	unsigned long long last = 0;

	for (; l->first < l->end; drop_first(l)) {
		const struct line *line = &l->all[l->first];

		m->functions[m->n] = (struct function){ line->start, line->end, 0, m->names, m->n };
		m->n++;
		m->names += stpcpy(names + m->names, line->name) + 1 - (names + m->names);
	}
	qsort(m->functions, m->n, sizeof(*m->functions), by_start);
	for (size_t i = 0; i < m->n; i++)
		m->functions[i].last = last = m->functions[i].end > last ? m->functions[i].end : last;
	return m;
}

struct perf_map *perf_map_load(int fd)
{
	struct perf_map *m = NULL;
	struct lines l = { 0 };
	char path[32];
	struct stat st;

	if (fstat(fd, &st) || st.st_size > PERF_MAP_BYTES)
		return NULL;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	bcc_perf_map_foreach_sym(path, perf_map_add, &l);
	if (l.first < l.end)
		m = build(&l);
	free(l.all);
	return m;
}

size_t perf_map_size(const struct perf_map *m)
{
	return sizeof(*m) + m->n * sizeof(*m->functions) + m->names;
}

const char *perf_map_find(const struct perf_map *m, unsigned long long addr, unsigned long long *off)
{
	const struct function *found = NULL, *f;
	size_t low = 0, high = m->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (m->functions[mid].start <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	for (int i = 0; i < STEPS && low-- && (f = &m->functions[low])->last > addr; i++)
		if (f->end > addr && (!found || f->age > found->age))
			found = f;
	if (!found)
		return NULL;
	*off = addr - found->start;
	return (const char *)(m->functions + m->n) + found->name;
}
