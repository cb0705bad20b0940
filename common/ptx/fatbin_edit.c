/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include "ptx/fatbin.h"

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
