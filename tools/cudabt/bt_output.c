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

static int from = -1;
static bool json;
/* the start of a line; the last byte is for the zero behind it */
static char kept[64 * 1024 + 1];
static size_t nkept;

int bt_output_open(bool j)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) || fcntl(ends[0], F_SETFL, O_NONBLOCK))
		die(errno, "cannot create a pipe");
	from = ends[0];
	json = j;
	return ends[1];
}

static void print(size_t n)
{
	char next = kept[n];

	kept[n] = 0;
	escape_lines(stdout, kept, n, json);
	kept[n] = next;
	nkept -= n;
	memmove(kept, kept + n, nkept);
}

/* Whole lines, or as much as there is room for. */
static void print_lines(void)
{
	const char *end = memrchr(kept, '\n', nkept);

	if (end)
		print(end + 1 - kept);
	else if (nkept == sizeof(kept) - 1)
		print(nkept);
}

void bt_output_copy(void)
{
	ssize_t n = 0;

	while (from >= 0 && !out_is_held_up()) {
		n = read(from, kept + nkept, sizeof(kept) - 1 - nkept);
		if (n <= 0)
			break;
		nkept += n;
		print_lines();
	}
	/* nobody reads it any more: bpftrace is to notice */
	if (from >= 0 && !out_flush()) {
		close(from);
		from = -1;
	}
}

void bt_output_finish(void)
{
	int left = 0;

	bt_output_copy();
	if (from >= 0 && !ioctl(from, FIONREAD, &left) && left)
		warning(0, "standard output is not being read: discarded the last output of bpftrace");
	print(nkept);
	out_flush();
}
