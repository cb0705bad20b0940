/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "cudabt/bt_output.h"
#include "base/die.h"
#include "base/escape.h"
#include "cli/out.h"

int bt_output_open(struct bt_output *o, bool json)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) || fcntl(ends[0], F_SETFL, O_NONBLOCK))
		die(errno, "cannot create a pipe");
	o->from = ends[0];
	o->open = true;
	o->json = json;
	return ends[1];
}

/* bpftrace 0.17 writes the byte C3 in JSON as \uffffffc3: turns n bytes at s into what was meant, and
 * returns how many these are.  No character of its own begins with \uffffff. */
static size_t join_bytes(char *s, size_t n)
{
	static const char begin[] = "\\uffffff";
	size_t len = sizeof(begin) - 1, to = 0, from = 0;
	unsigned byte;

	while (from < n) {
		if (n - from >= len + 2 && !memcmp(s + from, begin, len) &&
		    sscanf(s + from + len, "%2x", &byte) == 1 && byte >= 0x80) {
			s[to++] = byte;
			from += len + 2;
			continue;
		}
		if (s[from] == '\\' && n - from > 1)	/* what is escaped begins nothing */
			s[to++] = s[from++];
		s[to++] = s[from++];
	}
	return to;
}

static void print_line(struct bt_output *o, char *line, size_t n)
{
	char next = line[n];
	size_t size;

	if (*line == '\n' && !o->within) {
		o->blank = o->printed;
		return;
	}
	if (o->blank && !o->json)
		putchar('\n');
	o->blank = false;
	o->printed = true;
	o->within = line[n - 1] != '\n';
	size = o->json ? join_bytes(line, n) : n;
	line[size] = 0;
	escape_lines(stdout, line, size, o->json);
	line[n] = next;
}

static void print(struct bt_output *o, size_t n)
{
	char *line = o->kept, *end = o->kept + n, *newline;

	for (; line < end; line = newline + 1) {
		newline = memchr(line, '\n', end - line);
		if (!newline)
			newline = end - 1;
		print_line(o, line, newline + 1 - line);
	}
	o->nkept -= n;
	memmove(o->kept, o->kept + n, o->nkept);
}

/* Prints whole lines, or part of one if the buffer is full. */
static void print_lines(struct bt_output *o)
{
	const char *end = memrchr(o->kept, '\n', o->nkept);

	if (end)
		print(o, end + 1 - o->kept);
	else if (o->nkept == BT_LINE)
		print(o, o->nkept);
}

void bt_output_copy(struct bt_output *o)
{
	ssize_t n = 0;

	while (o->open && !out_is_held_up()) {
		n = read(o->from, o->kept + o->nkept, BT_LINE - o->nkept);
		if (n <= 0)
			break;
		o->nkept += n;
		print_lines(o);
	}
	/* nobody reads our output any more: let bpftrace notice */
	if (o->open && !out_flush()) {
		close(o->from);
		o->open = false;
	}
}

void bt_output_finish(struct bt_output *o)
{
	int left = 0;

	bt_output_copy(o);
	if (o->open && !ioctl(o->from, FIONREAD, &left) && left)
		warning(0, "standard output is not being read: discarded the last output of bpftrace");
	print(o, o->nkept);
	out_flush();
}
