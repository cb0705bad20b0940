/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Fuzzes what reads and edits containers of CUDA's images. */
#include "ptx/fatbin.h"
#include "fuzz.h"

enum { UNPACKED_TRIED = 1 << 20 };	/* what says that it is larger takes time and memory, not more code */

static char *lengthen(void *ctx, const struct fatbin_image *image, const char *text, size_t *size)
{
	char *new = malloc(*size + 2);

	CHECK(fatbin_runs(image, *(unsigned *)ctx) && !text[*size]);
	memcpy(new, text, *size);
	memcpy(new + *size, "\n", 2);
	*size += 1;
	return new;
}

/* All of it is within size bytes; returns false if an image is too large to be unpacked here. */
static bool images(const char *p, size_t size)
{
	struct fatbin_entry entry;
	const char *why;
	size_t at = 0, got;

	while (fatbin_next(p, size, &at, &entry) > 0) {
		CHECK(at <= size && entry.payload + entry.image.padded == p + at);
		if (entry.image.flags & (FATBIN_ZSTD | FATBIN_LZ4) && entry.image.size > UNPACKED_TRIED)
			return false;
		char *text = fatbin_unpack(&entry, &got, &why);

		CHECK(!text == !!why && (!text || !text[got]));
		free(text);
	}
	return true;
}

/* What is edited is a container, with as much PTX or less. */
static void edits(const char *p, size_t size, unsigned sm, bool pack)
{
	struct fatbin_edit how = { .ptx = lengthen, .ctx = &sm, .sm = sm, .pack = pack };
	size_t n = 0;
	const char *why;
	char *new = fatbin_edit(p, size, &how, &n, &why);

	CHECK(!new || !why);
	CHECK(!new || fatbin_size(new, n) == n);
	CHECK(!new || !n || images(new, n));
	free(new);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const unsigned devices[] = { 0, 75, 86, 90, 103 };
	struct input in = { data, size };
	unsigned sm = devices[take(&in, 1) % 5];
	char *copy = malloc(in.left + !in.left);	/* aligned, and with nothing behind it */
	size_t at = 0, n;

	memcpy(copy, in.at, in.left);
	for (; (n = fatbin_find(copy, in.left, &at)); at += n) {
		CHECK(at + n <= in.left);
		if (images(copy + at, n))
			edits(copy + at, n, sm, size & 1);
	}
	free(copy);
	return 0;
}
