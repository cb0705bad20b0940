/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/die.h"
#include "cudamemtime/ptx_file.h"

enum { INSTRUCTION = 16 };	/* bytes, since sm_70 */

static const char prefix[] = ".text.";

/* Returns the next section of code, and the function's name and size. */
static Elf_Scn *next_text(Elf *elf, Elf_Scn *section, const char **name, size_t *size)
{
	size_t names;
	GElf_Shdr head;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		*name = gelf_getshdr(section, &head) ? elf_strptr(elf, names, head.sh_name) : NULL;
		if (!*name || strncmp(*name, prefix, strlen(prefix)))
			continue;
		*name += strlen(prefix);
		*size = head.sh_size;
		return section;
	}
	return NULL;
}

unsigned cubin_instructions(int fd, const char *symbol)
{
	Elf_Scn *section = NULL;
	unsigned found = 0;
	const char *name;
	size_t size;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	while (elf && (section = next_text(elf, section, &name, &size)))
		if (!strcmp(name, symbol))
			found = size / INSTRUCTION;
	elf_end(elf);
	return found;
}

/* Returns how many functions a cubin in memory has: each has a section of code. */
static unsigned cubin_functions(char *data, size_t size)
{
	Elf_Scn *section = NULL;
	unsigned found = 0;
	const char *name;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_memory(data, size);
	while (elf && (section = next_text(elf, section, &name, &size)))
		found++;
	elf_end(elf);
	return found;
}

/* A file may have millions of images. */
enum { WARNINGS = 16 };

void ptx_file_open(struct ptx_file *file, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	void *map;

	if (fd < 0 || fstat(fd, &st))
		die(errno, "cannot open %s", path);
	if (!S_ISREG(st.st_mode) || !st.st_size)
		die(0, "%s: not a regular file with anything in it", path);
	map = mmap(NULL, st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		die(errno, "cannot read %s", path);
	close(fd);
	*file = (struct ptx_file){ path, map, st.st_size, fatbin_room(st.st_size), 0 };
}

void ptx_file_warning(struct ptx_file *file, const char *part, const char *why)
{
	if (file->warnings++ < WARNINGS)
		warning(0, "%s: %s: %s", file->path, part, why);
}

/* Every module begins with these directives, after comments. */
bool ptx_file_is_text(const struct ptx_file *file)
{
	return !memchr(file->data, 0, file->size) && memmem(file->data, file->size, ".version", 8) &&
	       memmem(file->data, file->size, ".target", 7);
}

/* Returns true if an image that is not PTX has functions: nvcc's linker adds one without. */
static bool has_code(struct ptx_file *file, const struct fatbin_entry *entry)
{
	const char *why;
	size_t n;
	char *data = fatbin_unpack_within(entry, &file->room, &n, &why);
	bool found = data && (entry->image.kind != FATBIN_ELF || cubin_functions(data, n));

	free(data);
	return found;
}

static void ptx_file_container(struct ptx_file *file, const char *p, size_t size, struct ptx_images *found,
		      void (*fn)(void *ctx, unsigned sm, const char *text, size_t size), void *ctx)
{
	struct fatbin_entry entry;
	unsigned ptx = 0;
	bool code = false;
	size_t at = 0, n;
	const char *why;
	int got = 0;

	while (file->room && (got = fatbin_next(p, size, &at, &entry)) > 0) {
		char part[32], *text;

		if (entry.image.kind != FATBIN_PTX) {
			code = code || has_code(file, &entry);
			continue;
		}
		ptx++;
		text = fatbin_unpack_within(&entry, &file->room, &n, &why);
		if (text) {	/* compilers count the 0 at its end as text */
			fn(ctx, entry.image.sm, text, strnlen(text, n));
		} else {
			snprintf(part, sizeof(part), "PTX for sm_%u", entry.image.sm);
			ptx_file_warning(file, part, why);
			found->bad++;
		}
		free(text);
	}
	found->bad += got < 0;
	found->ptx += ptx;
	found->other += !ptx && code;
}

struct ptx_images ptx_file_each(struct ptx_file *file,
				void (*fn)(void *ctx, unsigned sm, const char *text, size_t size), void *ctx)
{
	struct ptx_images found = { 0 };
	size_t at = 0, n;

	if (ptx_file_is_text(file)) {
		char *text = strndup(file->data, file->size);

		if (!text)
			die(ENOMEM, "%zu bytes", file->size);
		fn(ctx, 0, text, file->size);
		free(text);
		found.ptx = 1;
		return found;
	}
	for (; file->room && (n = fatbin_find(file->data, file->size, &at)); at += n)
		ptx_file_container(file, file->data + at, n, &found, fn, ctx);
	return found;
}

void ptx_file_close(struct ptx_file *file)
{
	munmap(file->data, file->size);
}
