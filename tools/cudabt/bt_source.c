/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cudabt/bt_source.h"
#include "base/die.h"
#include "base/escape.h"
#include "proc/proc.h"

enum { MAX_SIZE = 1 << 20, SHOWN = 80 };

/* The programs are installed in ../share of this binary; in a build tree they are in ../scripts. */
static int open_installed(const char *name)
{
	static const char *const dirs[] = { "../share/cuda-bpf-tools/bt", "../scripts/bt" };
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int fd = -ENOENT;

	if (n < 0)
		return -errno;
	self[n] = 0;
	*strrchr(self, '/') = 0;
	for (size_t i = 0; fd == -ENOENT && i < sizeof(dirs) / sizeof(*dirs); i++) {
		char *path = xprintf("%s/%s/%s", self, dirs[i], name);

		fd = proc_open_file(path);
		free(path);
	}
	return fd;
}

/* As in a search for commands, the current directory, which may be somebody else's, must be named. */
static int open_program(const char *name)
{
	int fd = strchr(name, '/') ? proc_open_file(name) : open_installed(name);

	if (fd == -ENOENT && !strchr(name, '/') && !access(name, F_OK))
		die(0, "%s is not an included program; to run the one in this directory, name it ./%s", name, name);
	return fd;
}

struct bt_source bt_source_file(const char *name)
{
	struct bt_source s = { .name = name };
	int fd = open_program(name);
	ssize_t n = 1;

	if (fd == -EINVAL)
		die(0, "%s is not a regular file", name);
	if (fd < 0)
		die(fd, "cannot open %s", name);
	s.text = xcalloc(MAX_SIZE + 1, 1);
	while (s.len <= MAX_SIZE && (n = read(fd, s.text + s.len, MAX_SIZE + 1 - s.len)) > 0)
		s.len += n;
	if (n < 0)
		die(errno, "cannot read %s", name);
	if (s.len > MAX_SIZE)
		die(0, "%s is larger than %d bytes: is it a bpftrace program?", name, MAX_SIZE);
	close(fd);
	return s;
}

struct bt_source bt_source_text(const char *text)
{
	return (struct bt_source){ "-e", xstrdup(text), strlen(text) };
}

/* Prints len bytes on standard error, safe for a terminal; returns the columns they take. */
static int print(const char *s, int len)
{
	char text[2 * SHOWN + 1];

	snprintf(text, sizeof(text), "%.*s", len, s);
	for (char *c = text; *c; c++)
		if (*c == '\t')
			*c = ' ';
	return escape_text(stderr, text);
}

void bt_source_error(const struct bt_source *s, const struct bt_error *e)
{
	const char *end = s->text + s->len, *start = s->text, *stop = e->at, *from;
	int line = 1;

	for (const char *c = s->text; c < e->at; c++)
		if (*c == '\n') {
			line++;
			start = c + 1;
		}
	while (stop < end && *stop != '\n' && stop - e->at < SHOWN)
		stop++;
	from = e->at - start > SHOWN ? e->at - SHOWN : start;
	warning(0, "%s:%d:%d: %s", s->name, line, (int)(e->at - start) + 1, e->what);
	fputs("  ", stderr);
	line = print(from, e->at - from);
	print(e->at, stop - e->at);
	fprintf(stderr, "\n%*s^\n", line + 2, "");
}
