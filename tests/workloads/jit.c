/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* jit MAP...: for each word, writes a perf map, generates code anew, and has it allocate 4 KiB: outer calls
 * inner, which calls allocate().  The words:
 *   names     both functions by their names              none      no map
 *   late      after an allocation without a map
 *   again     at the same addresses, in the map as it is: new_outer, new_inner
 *   overlap   with old entries that cover everything, before and (newer) not
 *   odd       sizes 0 and 2^64-1, names with control characters, empty, 100,000 bytes; lines of other things
 *   twice     with what there was, and again from code that was added to the map meanwhile
 *   fifo, dir, sparse, huge     in place of the map; huge: 2 million lines before the right ones
 *   link FILE, hard FILE        a symbolic link, another name of FILE
 *   theirs    the map belongs to user 12345
 *   same      what there was before
 *   wait      prints "ready" and reads a line
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cuda_api.h"
#include "tests/jit.h"

enum { OUTER = 0, INNER = 64, CODE = 128 };

static char path[64];
static unsigned char *code;

static __attribute__((noinline)) void allocate(void)
{
	void *p;

	cudaMalloc(&p, 4096);
	__asm__ volatile("" : : "r"(p) : "memory");
}

static void run(void)
{
	void (*outer)(void);
	void *start = code + OUTER;

	memcpy(&outer, &start, sizeof(outer));
	outer();
	usleep(150000);		/* a process must live for a tool to read its files */
}

/* Before the map changes: a tool reads it again 0.1 s later, and then so much later that it reads for a twentieth of the time. */
static void pause_for_tool(void)
{
	sleep(2);
}

static FILE *map(const char *mode)
{
	FILE *f = fopen(path, mode);

	if (!f) {
		perror(path);
		exit(1);
	}
	return f;
}

static void entry(FILE *f, int at, const char *size, const char *name)
{
	fprintf(f, "%lx %s %s\n", (unsigned long)(code + at), size, name);
}

static void both(FILE *f, const char *outer, const char *inner)
{
	entry(f, OUTER, "12", outer);
	entry(f, INNER, "12", inner);
	fclose(f);
}

static void overlap(void)
{
	FILE *f = map("w");

	entry(f, OUTER - 4096, "4000", "old_page");
	entry(f, OUTER, "80", "old_both");
	entry(f, OUTER, "12", "older_outer");
	entry(f, OUTER, "12", "outer");
	entry(f, INNER - 8, "1a", "inner");	/* begins before */
	entry(f, INNER + 18, "100", "after");
	fclose(f);
}

static void odd(void)
{
	FILE *f = map("w");

	entry(f, OUTER, "ffffffffffffffff", "all \033[31m\342\200\256\377\001;\"<&%n");
	fputs("\n\n  \nhello world\n1 2 3 4\nffffffffffffffffffff 10 much\n-1 10 negative\nffffffffffffffff "
	      "ffffffffffffffff end\n", f);
	fwrite("\0\0\0\n1000 \0 10 nul\n", 1, 17, f);
	entry(f, OUTER, "0", "nothing");
	entry(f, INNER, "12", "");
	fprintf(f, "%lx 12 ", (unsigned long)(code + INNER));
	for (int i = 0; i < 100000; i++)
		fputc('x', f);
	fclose(f);		/* no newline */
}

static void sparse(void)
{
	FILE *f = map("w");

	if (ftruncate(fileno(f), 1l << 30))
		perror("ftruncate");
	fclose(f);
}

static void huge(void)
{
	FILE *f = map("w");

	for (int i = 0; i < 2000000; i++)
		fprintf(f, "%x 10 filler_%d\n", 0x10000 + i * 16, i);
	both(f, "outer", "inner");
}

static void again(void)
{
	pause_for_tool();
	both(map("a"), "new_outer", "new_inner");
}

static void put_map(char **word)
{
	const char *w = *word;

	if (strcmp(w, "again") && strcmp(w, "twice") && strcmp(w, "same")) {
		unlink(path);
		rmdir(path);
	}
	if (!strcmp(w, "names") || !strcmp(w, "theirs"))
		both(map("w"), "outer", "inner");
	else if (!strcmp(w, "again"))
		again();
	else if (!strcmp(w, "overlap"))
		overlap();
	else if (!strcmp(w, "odd"))
		odd();
	else if (!strcmp(w, "sparse"))
		sparse();
	else if (!strcmp(w, "huge"))
		huge();
	else if (!strcmp(w, "fifo"))
		mkfifo(path, 0644);
	else if (!strcmp(w, "dir"))
		mkdir(path, 0755);
	else if (!strcmp(w, "link") && symlink(word[1], path))
		perror(path);
	else if (!strcmp(w, "hard") && link(word[1], path))
		perror(path);
	if (!strcmp(w, "theirs") && chown(path, 12345, 12345))
		perror(path);
}

static void later(const char *w)
{
	if (!strcmp(w, "late")) {
		pause_for_tool();
		both(map("w"), "outer", "inner");
	} else if (!strcmp(w, "twice")) {
		code += CODE;
		jit_generate(code + OUTER, code + INNER);
		jit_generate(code + INNER, (void *)allocate);
		pause_for_tool();
		both(map("a"), "added_outer", "added_inner");
	} else {
		return;
	}
	run();
}

int main(int argc, char **argv)
{
	(void)argc;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		return 1;
	jit_generate(code + OUTER, code + INNER);
	jit_generate(code + INNER, (void *)allocate);
	for (char **word = argv + 1; *word; word++) {
		if (!strcmp(*word, "wait")) {
			puts("ready");
			fflush(stdout);
			getchar();
			continue;
		}
		put_map(word);
		run();
		later(*word);
		word += !strcmp(*word, "link") || !strcmp(*word, "hard");
	}
	unlink(path);
	rmdir(path);
	return 0;
}
