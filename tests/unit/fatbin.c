/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Containers of CUDA's images, for tests/fatbin.t:
 *   fatbin list FILE            a line for each container in it, and for each image
 *   fatbin text FILE SM         the PTX for SM of the first container
 *   fatbin edit FILE SM OUT [pack]   PTX that a device SM takes gets a line at its end
 *   fatbin same FILE            edits without any change to the text, and compares what is read back
 *   fatbin break FILE           every truncation, and every bit of it flipped
 *   fatbin bomb FILE OUT IMAGES MIB   one container: FILE and blanks to so many MiB, packed, as PTX
 * and for tests/ptx-instrument.t:
 *   fatbin put                  text that grows further than there is memory */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include "base/die.h"
#include "ptx/fatbin.h"
#include "ptx/put.h"

static char *file_read(const char *name, size_t *size)
{
	FILE *f = fopen(name, "r");
	char *p;

	if (!f || fseek(f, 0, SEEK_END))
		die(errno, "%s", name);
	*size = (size_t)ftell(f);
	rewind(f);
	p = malloc(*size + 1);
	if (!p || fread(p, 1, *size, f) != *size)
		die(errno, "%s", name);
	fclose(f);
	return p;
}

static const char *kind_name(unsigned kind)
{
	return kind == FATBIN_PTX ? "ptx" : kind == FATBIN_ELF ? "elf" : kind == FATBIN_LTO ? "lto" : "other";
}

static void list(const char *file, size_t size)
{
	size_t at = 0, n;

	for (; (n = fatbin_find(file, size, &at)); at += n) {
		struct fatbin_entry entry;
		size_t in = 0, got;
		int r;

		printf("container %zu\n", n);
		while ((r = fatbin_next(file + at, n, &in, &entry)) > 0) {
			const struct fatbin_image *image = &entry.image;
			const char *why, *how = image->flags & FATBIN_ZSTD ? "zstd" : image->flags & FATBIN_LZ4 ? "lz4" : "plain";
			char *text = fatbin_unpack(&entry, &got, &why);

			printf("%s sm_%u%s %s %zu %s%s\n", kind_name(image->kind), image->sm,
			       image->flags & FATBIN_ARCH_A ? "a" : image->flags & FATBIN_ARCH_F ? "f" : "", how,
			       text ? got : 0, image->flags & FATBIN_DEBUG ? "debug " : "", text ? "" : why);
			free(text);
		}
		if (r < 0)
			printf("malformed\n");
	}
}

static void text_of(const char *file, size_t size, unsigned sm)
{
	size_t at = 0, n = fatbin_find(file, size, &at), in = 0, got;
	struct fatbin_entry entry;
	const char *why;

	while (n && fatbin_next(file + at, n, &in, &entry) > 0)
		if (entry.image.kind == FATBIN_PTX && entry.image.sm == sm) {
			char *text = fatbin_unpack(&entry, &got, &why);

			fputs(text ? text : why, stdout);
			free(text);
		}
}

/* ctx: what is appended */
static char *append(void *ctx, const struct fatbin_image *image, const char *text, size_t *size)
{
	char *new;

	(void)image;
	if (asprintf(&new, "%s%s", text, (const char *)ctx) < 0)
		return NULL;
	*size = strlen(new);
	return new;
}

static void edit(const char *file, size_t size, unsigned sm, const char *to, bool pack)
{
	struct fatbin_edit how = { .ptx = append, .ctx = "// edited\n", .sm = sm, .pack = pack };
	size_t at = 0, n = fatbin_find(file, size, &at);
	const char *why = "no container";
	void *new = n ? fatbin_edit(file + at, n, &how, &n, &why) : NULL;
	FILE *f;

	if (!new)
		die(0, "%s", why ? why : "nothing was changed");
	f = fopen(to, "w");
	if (!f || fwrite(new, 1, n, f) != n || fclose(f))
		die(errno, "%s", to);
	free(new);
}

/* What is read of new, of the PTX for any device, is what is read of old. */
static bool reads_same(const char *old, size_t old_size, const char *new, size_t new_size)
{
	struct fatbin_entry a, b;
	size_t i = 0, j = 0, n, m;
	const char *why;
	int seen = 0;

	while (fatbin_next(old, old_size, &i, &a) > 0) {
		if (a.image.kind == FATBIN_ELF)
			continue;
		if (fatbin_next(new, new_size, &j, &b) <= 0 || a.image.header != b.image.header || a.image.sm != b.image.sm ||
		    memcmp(a.header + sizeof(a.image), b.header + sizeof(b.image), a.image.header - sizeof(a.image)))
			return false;
		char *old_text = fatbin_unpack(&a, &n, &why), *new_text = fatbin_unpack(&b, &m, &why);
		bool same = old_text && new_text && !strcmp(old_text, new_text);

		free(old_text);
		free(new_text);
		if (!same)
			return false;
		seen++;
	}
	return seen && fatbin_next(new, new_size, &j, &b) == 0;
}

static int same(const char *file, size_t size)
{
	size_t at = 0, n = fatbin_find(file, size, &at), new_size;
	struct fatbin_edit how = { .ptx = append, .ctx = "" };
	const char *why;
	int ways = 0;

	for (; ways < 2; ways++, how.pack = true) {
		char *new = n ? fatbin_edit(file + at, n, &how, &new_size, &why) : NULL;

		if (!new || !reads_same(file + at, n, new, new_size))
			die(0, "not the same%s", how.pack ? ", packed" : "");
		free(new);
	}
	printf("same, plain and packed\n");
	return 0;
}

/* Reads all that can be read of size bytes of a copy, so that a sanitizer sees what is read beyond. */
static int read_all(const char *file, size_t size)
{
	struct fatbin_edit how = { .ptx = append, .ctx = "\n" };
	char *copy = malloc(size + !size), *text;
	size_t at = 0, n, got;
	const char *why;
	int images = 0;

	memcpy(copy, file, size);
	for (; (n = fatbin_find(copy, size, &at)); at += n) {
		struct fatbin_entry entry;
		size_t in = 0;

		while (fatbin_next(copy + at, n, &in, &entry) > 0) {
			text = fatbin_unpack(&entry, &got, &why);
			images += text != NULL;
			free(text);
		}
		free(fatbin_edit(copy + at, n, &how, &got, &why));
	}
	free(copy);
	return images;
}

static void break_it(char *file, size_t size)
{
	int whole = 0, less = 0, all = read_all(file, size);

	for (size_t n = 0; n < size; n++)
		*(read_all(file, n) < all ? &less : &whole) += 1;
	printf("%d truncations have fewer images, %d not\n", less, whole);
	whole = less = 0;
	for (size_t bit = 0; bit < 8 * size; bit++) {
		file[bit / 8] ^= (char)(1 << bit % 8);
		*(read_all(file, size) < all ? &less : &whole) += 1;
		file[bit / 8] ^= (char)(1 << bit % 8);
	}
	printf("%zu flips\n", (size_t)whole + less);
}

static void bomb(const char *file, size_t size, const char *to, unsigned images, size_t mib)
{
	size_t n = mib << 20, room = ZSTD_compressBound(n), packed;
	char *text = malloc(n), *bytes = calloc(1, room + 8);
	FILE *f = fopen(to, "w");

	if (!text || !bytes || !f || size > n)
		die(errno, "%s", to);
	memcpy(text, file, size);
	memset(text + size, ' ', n - size);
	packed = ZSTD_compress(bytes, room, text, n, 1);
	const struct fatbin_image image = {
		.kind = FATBIN_PTX, .header = sizeof(image), .padded = (packed + 7) & ~(size_t)7,
		.packed = (uint32_t)packed, .sm = 75, .flags = FATBIN_ZSTD, .size = n,
	};
	const struct fatbin_header head = { FATBIN_MAGIC, 1, sizeof(head), images * (sizeof(image) + image.padded) };

	fwrite(&head, sizeof(head), 1, f);
	for (unsigned i = 0; i < images; i++) {
		fwrite(&image, sizeof(image), 1, f);
		fwrite(bytes, image.padded, 1, f);
	}
	if (fclose(f))
		die(errno, "%s", to);
	free(bytes);
	free(text);
}

static void put_all(void)
{
	struct ptx_out out = { 0 };
	bool before;

	put_format(&out, "%d pieces, ", 3);
	put_number(&out, 1009);
	before = out.failed;
	put_bytes(&out, "", (size_t)-1 / 2);
	put(&out, "more");
	printf("%s %zu %s %s\n", out.s, out.n, before ? "failed" : "done", out.failed ? "failed" : "done");
	free(out.s);
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	char *file;
	size_t size;

	if (argc == 2 && !strcmp(argv[1], "put")) {
		put_all();
		return 0;
	}
	if (!*what)
		die(0, "see tests/unit/fatbin.c");
	file = file_read(argv[2], &size);
	if (!strcmp(what, "list"))
		list(file, size);
	else if (!strcmp(what, "text") && argc > 3)
		text_of(file, size, (unsigned)atoi(argv[3]));
	else if (!strcmp(what, "edit") && argc > 4)
		edit(file, size, (unsigned)atoi(argv[3]), argv[4], argc > 5);
	else if (!strcmp(what, "same"))
		same(file, size);
	else if (!strcmp(what, "break"))
		break_it(file, size);
	else if (!strcmp(what, "bomb") && argc > 5)
		bomb(file, size, argv[3], (unsigned)atoi(argv[4]), (size_t)atoi(argv[5]));
	free(file);
	return 0;
}
