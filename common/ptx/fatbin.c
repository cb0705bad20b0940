/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <limits.h>
#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include "ptx/fatbin.h"

size_t fatbin_size(const void *p, size_t size)
{
	struct fatbin_header head;

	if (size < sizeof(head))
		return 0;
	memcpy(&head, p, sizeof(head));
	if (head.magic != FATBIN_MAGIC || head.version != 1 || head.header < sizeof(head) || head.header > size ||
	    head.size > size - head.header)
		return 0;
	return head.header + head.size;
}

size_t fatbin_find(const void *file, size_t size, size_t *at)
{
	const char *p = file;

	if (*at > SIZE_MAX - 7)
		return 0;
	for (size_t i = (*at + 7) & ~(size_t)7; i < size && size - i >= sizeof(struct fatbin_header); i += 8) {
		size_t n = fatbin_size(p + i, size - i);

		if (n) {
			*at = i;
			return n;
		}
	}
	return 0;
}

int fatbin_next(const void *container, size_t size, size_t *at, struct fatbin_entry *entry)
{
	struct fatbin_image *image = &entry->image;
	const char *p = container;
	struct fatbin_header head;
	size_t left;

	if (!*at) {
		if (!fatbin_size(container, size))
			return -1;
		memcpy(&head, p, sizeof(head));
		*at = head.header;
	}
	if (*at == size)
		return 0;
	if (*at > size || size - *at < sizeof(*image))
		return -1;
	left = size - *at;
	memcpy(image, p + *at, sizeof(*image));
	if (image->header < sizeof(*image) || image->header > left || image->padded > left - image->header ||
	    image->packed > image->padded)
		return -1;
	entry->header = p + *at;
	entry->payload = entry->header + image->header;
	*at += image->header + image->padded;
	return 1;
}

bool fatbin_runs(const struct fatbin_image *image, unsigned sm)
{
	if (!sm)
		return true;
	if (image->flags & FATBIN_ARCH_A)
		return image->sm == sm;
	if (image->flags & FATBIN_ARCH_F)
		return image->sm / 10 == sm / 10 && image->sm <= sm;
	return image->sm <= sm;
}

/* NVIDIA's largest image of PTX has less than half of this. */
enum { UNPACKED_MAX = 256 << 20 };

/* zstd makes a tenth of PTX, LZ4 a fifth, and not all of a file is PTX. */
enum { RATIO_MAX = 64 };

/* Unpacks into `to`, which has `room` bytes; returns NULL or why it failed. */
static const char *unpack(const struct fatbin_entry *entry, size_t packed, char *to, size_t room)
{
	size_t got;
	int n;

	if (entry->image.flags & FATBIN_ZSTD) {
		got = ZSTD_decompress(to, room, entry->payload, packed);
		if (ZSTD_isError(got))
			return "malformed zstd data";
	} else {
		n = packed > INT_MAX ? -1 : LZ4_decompress_safe(entry->payload, to, (int)packed, (int)room);
		if (n < 0)
			return "malformed LZ4 data";
		got = (size_t)n;
	}
	return got == room ? NULL : "its size is not what its header says";
}

static bool is_packed(const struct fatbin_image *image)
{
	return image->flags & (FATBIN_ZSTD | FATBIN_LZ4);
}

static size_t unpacked(const struct fatbin_image *image)
{
	return is_packed(image) ? image->size : image->padded;
}

char *fatbin_unpack(const struct fatbin_entry *entry, size_t *size, const char **why)
{
	const struct fatbin_image *image = &entry->image;
	size_t room = unpacked(image);
	bool packed = is_packed(image);
	char *to;

	*why = NULL;
	if (image->zero) {	/* nvcc does this to LTO code: it is the key */
		*why = "encrypted";
		return NULL;
	}
	if (room > UNPACKED_MAX) {
		*why = "larger than 256 MiB";
		return NULL;
	}
	to = malloc(room + 1);
	if (!to) {
		*why = "out of memory";
		return NULL;
	}
	if (packed)
		*why = unpack(entry, image->packed ? image->packed : image->padded, to, room);
	else
		memcpy(to, entry->payload, room);
	if (*why) {
		free(to);
		return NULL;
	}
	to[room] = 0;
	*size = room;
	return to;
}

size_t fatbin_room(size_t file_size)
{
	return file_size > (SIZE_MAX - UNPACKED_MAX) / RATIO_MAX ? SIZE_MAX : UNPACKED_MAX + RATIO_MAX * file_size;
}

char *fatbin_unpack_within(const struct fatbin_entry *entry, size_t *room, size_t *size, const char **why)
{
	size_t n = unpacked(&entry->image);

	if (n > UNPACKED_MAX)	/* costs nothing */
		return fatbin_unpack(entry, size, why);
	if (n >= *room) {
		*room = 0;
		*why = "the file's images unpack to more than 256 MiB and 64 times its size";
		return NULL;
	}
	*room -= n;
	return fatbin_unpack(entry, size, why);
}

enum { ZSTD_LEVEL = 3 };

struct out {
	char *p;
	size_t n, room, max;
	bool failed;		/* out of memory */
	bool full;		/* more than max */
};

static void put(struct out *out, const void *p, size_t n)
{
	size_t room = out->room ? out->room : 4096;
	char *more;

	if (out->full || (out->max && n > out->max - out->n)) {
		out->full = true;
		return;
	}
	if (out->failed || n > SIZE_MAX / 4 || out->n > SIZE_MAX / 4) {
		out->failed = true;
		return;
	}
	while (room < out->n + n)
		room *= 2;
	if (room != out->room) {
		more = realloc(out->p, room);
		if (!more) {
			out->failed = true;
			return;
		}
		out->p = more;
		out->room = room;
	}
	memcpy(out->p + out->n, p, n);
	out->n += n;
}

/* Compresses text with its 0, as nvcc does; returns malloc'd bytes, or NULL. */
static char *compress(const char *text, size_t size, size_t *packed)
{
	size_t room = ZSTD_compressBound(size);
	char *to = malloc(room);

	*packed = to ? ZSTD_compress(to, room, text, size, ZSTD_LEVEL) : 0;
	if (to && !ZSTD_isError(*packed))
		return to;
	free(to);
	return NULL;
}

/* Writes an image with other text; names and ptxas's options behind the header are kept. */
static void put_text(struct out *out, const struct fatbin_entry *entry, const char *text, size_t size, bool pack)
{
	struct fatbin_image image = entry->image;
	size_t packed = 0, pad;
	char *bytes = NULL;

	size++;		/* the 0 at its end */
	if (pack && size <= UINT32_MAX)
		bytes = compress(text, size, &packed);
	image.flags &= ~(uint64_t)(FATBIN_LZ4 | FATBIN_ZSTD);
	image.packed = 0;
	image.size = 0;
	image.padded = bytes ? packed : size;
	if (bytes) {
		image.flags |= FATBIN_ZSTD;
		image.packed = (uint32_t)packed;
		image.size = size;
	}
	pad = -image.padded & 7;
	image.padded += pad;
	put(out, &image, sizeof(image));
	put(out, entry->header + sizeof(image), image.header - sizeof(image));
	put(out, bytes ? bytes : text, image.padded - pad);
	put(out, "\0\0\0\0\0\0\0", pad);
	free(bytes);
}

/* Returns the sm of the PTX that the driver would take, which is the latest that the device can run; 0 if there is
 * none, -1 if the container is malformed. */
static int64_t best_ptx(const void *container, size_t size, unsigned sm)
{
	struct fatbin_entry entry;
	int64_t best = 0;
	size_t at = 0;
	int r;

	while ((r = fatbin_next(container, size, &at, &entry)) > 0)
		if (entry.image.kind == FATBIN_PTX && fatbin_runs(&entry.image, sm) && entry.image.sm > best)
			best = entry.image.sm;
	return r < 0 ? -1 : best;
}

/* Return true if a device can run this machine code: that of its generation, up to itself. */
static bool cubin_runs(const struct fatbin_image *image, unsigned sm)
{
	return !sm || (fatbin_runs(image, sm) && image->sm / 10 == sm / 10);
}

/* Writes an image, changed or as it is; returns true if it was changed. */
static bool put_image(struct out *out, const struct fatbin_entry *entry, const struct fatbin_edit *edit, bool change,
		      const char **why)
{
	char *text = NULL, *edited;
	size_t size;

	if (change)
		text = edit->room ? fatbin_unpack_within(entry, edit->room, &size, why) : fatbin_unpack(entry, &size, why);
	if (text) {
		size = strnlen(text, size);
		edited = edit->ptx(edit->ctx, &entry->image, text, &size);
		free(text);
		if (edited) {
			put_text(out, entry, edited, size, edit->pack);
			free(edited);
			return true;
		}
	}
	put(out, entry->header, entry->image.header + entry->image.padded);
	return false;
}

void *fatbin_edit(const void *container, size_t size, const struct fatbin_edit *edit, size_t *new_size,
		  const char **why)
{
	struct fatbin_header head = { FATBIN_MAGIC, 1, sizeof(head), 0 };
	int64_t best = best_ptx(container, size, edit->sm);
	struct fatbin_entry entry;
	struct out out = { .max = edit->max };
	int changed = 0;
	size_t at = 0;

	*why = best < 0 ? "malformed container" : NULL;
	if (best <= 0)
		return NULL;
	put(&out, &head, sizeof(head));
	while (!*why && !out.full && fatbin_next(container, size, &at, &entry) > 0) {
		const struct fatbin_image *image = &entry.image;
		bool takes = image->kind == FATBIN_PTX && fatbin_runs(image, edit->sm) &&
			     (!edit->sm || image->sm == best);

		if (image->kind != FATBIN_ELF || !cubin_runs(image, edit->sm))
			changed += put_image(&out, &entry, edit, takes, why);
	}
	if (out.failed)
		*why = "out of memory";
	if (out.full)
		*new_size = edit->max + 1;
	if (*why || out.full || !changed) {
		free(out.p);
		return NULL;
	}
	head.size = out.n - sizeof(head);
	memcpy(out.p, &head, sizeof(head));
	*new_size = out.n;
	return out.p;
}
