/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Fuzzes a line of /proc/PID/maps. */
#define _GNU_SOURCE
#include "proc/proc.h"
#include "fuzz.h"

static void any_line(const uint8_t *data, size_t size)
{
	char *line = strndup((const char *)data, size);
	struct mapping m;

	if (strchr(line, '\n'))	/* as getline() returns it */
		strchr(line, '\n')[1] = 0;
	if (proc_parse_mapping(line, &m))
		CHECK(*m.path == '/' && m.ino && !strchr(m.path, '\n'));
	free(line);
}

/* As show_map_vma() of the kernel's fs/proc/task_mmu.c prints it. */
static void good_line(struct input in)
{
	struct mapping m, want = { take(&in, 8), take(&in, 8), take(&in, 8), 0, take(&in, 8) | 1, NULL, { 0 }, true };
	unsigned major = take(&in, 4), minor = take(&in, 4);
	char head[200], *path = take_text(&in), *line = NULL;
	int n;

	for (char *s = path; (s = strchr(s, '\n')); )
		*s = '?';	/* the kernel writes \012 */
	n = snprintf(head, sizeof(head), "%08llx-%08llx r-xp %08llx %02x:%02x %llu ", want.start,
		     want.end, want.offset, major, minor, want.ino);
	CHECK(asprintf(&line, "%s%*s/%s\n", head, n < 73 ? 73 - n : 0, "", path) > 0);
	CHECK(proc_parse_mapping(line, &m) && m.executable);
	CHECK(m.start == want.start && m.end == want.end && m.offset == want.offset);
	CHECK(m.ino == want.ino && m.dev == ((unsigned long long)major << 32 | minor));
	CHECK(*m.path == '/' && !strcmp(m.path + 1, path));
	free(line);
	free(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	any_line(data, size);
	good_line((struct input){ data, size });
	return 0;
}
