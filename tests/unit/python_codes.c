/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* python-codes - what is kept of Python's code objects (common/python/code.h): how many of a process, of one user, and
 * what is given back. */
#include <stdio.h>
#include <string.h>
#include "bpf/map_backend.h"
#include "python/code.h"

enum { PID = 1009, OTHER = 1013, USER = 65534, MANY = 2569 };

enum { SHARE = 1, HELD = 1 << 20 };

static unsigned removed, removed_ever;	/* from the kernel's map */
static struct shares shares = { .used = HELD, .of[SHARE] = HELD };

static int drop(void *ctx, const struct bpf_map *map, const void *key)
{
	(void)ctx, (void)map, (void)key;
	removed++;
	removed_ever++;
	return 0;
}

static struct code_list list;

static void add(struct codes *cs, unsigned number, const char *name, int lines)
{
	static struct { struct python_code_record r; unsigned char lines[64]; } made;

	made.r = (struct python_code_record){
		.key = { .first_line = 3, .pid = PID, .code = number }, .value = { .number = number, .share = SHARE },
		.version = 0x30a, .lines_bytes = lines, .lines_size = lines,
		.name = { .bytes = strlen(name), .kind = 1 }, .file = { .bytes = 4, .kind = 1 }, .file_text = "a.py",
	};
	strcpy(made.r.name_text, name);
	for (int i = 0; i < lines; i++)		/* two bytes further is the next line */
		made.lines[i] = i % 2 ? 1 : 2;
	codes_add(cs, &list, USER, &made.r, sizeof(made.r) + lines);
}

static const struct code *find(const struct codes *cs, int pid, unsigned number)
{
	return codes_find(cs, pid, FRAME_PYTHON_OF(number, 0, 0));
}

static void tell(const struct codes *cs, const char *what, size_t before)
{
	printf("%s: %u known, %u names, %u removed, %zu bytes%s\n", what, HASH_COUNT(cs->by_number), HASH_COUNT(cs->names),
	       removed, cs->memory.used - before, shares.of[SHARE] + removed_ever == HELD ? "" : ", not given back");
}

int main(void)
{
	static const struct maps maps = { .remove = drop };
	const struct bpf_map *map = (const struct bpf_map *)&maps;	/* any */
	struct codes cs;
	size_t names;
	char name[PYTHON_NAME];

	bmaps_use(&maps);
	codes_init(&cs, NULL, map, &shares);
	add(&cs, 1, "walk", 0);
	add(&cs, 2, "walk", 0);
	add(&cs, 3, "run", 8);
	names = cs.memory.used - 3 * sizeof(struct code);
	printf("%s %d %s, %s\n", find(&cs, PID, 1)->name->code.name, find(&cs, PID, 1)->name->code.first_line,
	       find(&cs, PID, 1)->name->code.file,
	       find(&cs, PID, 1)->name == find(&cs, PID, 2)->name ? "the same for both" : "one for each");
	printf("%s, %s\n", find(&cs, OTHER, 1) ? "another process has it" : "no other process has it",
	       find(&cs, PID, 4) ? "another number" : "no other number");
	printf("%zu lines: %u\n", find(&cs, PID, 3)->nlines,
	       line_table_find(find(&cs, PID, 3)->lines, find(&cs, PID, 3)->nlines, 2));
	tell(&cs, "three", names + 3 * sizeof(struct code));
	add(&cs, 2, "again", 0);
	tell(&cs, "the same number", names + 3 * sizeof(struct code));
	codes_drop(&cs, &list);
	tell(&cs, "dropped", 0);

	removed = 0;
	names = cs.memory.used;
	for (int i = 1; i <= MANY; i++)
		add(&cs, i, "walk", 0);
	tell(&cs, "many", names + 2560 * sizeof(struct code));
	printf("%s, %s\n", find(&cs, PID, MANY - 2560) ? "the oldest is known" : "the oldest is not known",
	       find(&cs, PID, MANY - 2559) ? "the next one is" : "nor the next one");
	codes_drop(&cs, &list);
	tell(&cs, "all dropped", names);

	removed = 0;
	for (int i = 1; i < 200003; i++) {
		snprintf(name, sizeof(name), "function %0200d", i);
		add(&cs, i, name, 0);
	}
	printf("one user has %s\n", cs.memory.used <= cs.memory.limit / 2 && cs.memory.used > cs.memory.limit / 2 - 4096 ?
	       "half of the memory" : "another part of it");
	printf("the last has %s\n", !find(&cs, PID, 200002) ? "nothing" : find(&cs, PID, 200002)->name ? "a name" : "none");
	codes_drop(&cs, &list);
	codes_free(&cs);
	return 0;
}
