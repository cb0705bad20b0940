/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <limits.h>
#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include "ptx/fatbin.h"

/* NVIDIA's largest image of PTX has a tenth of this */
enum { UNPACKED_MAX = 1 << 30 };

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

char *fatbin_unpack(const struct fatbin_entry *entry, size_t *size, const char **why)
{
	const struct fatbin_image *image = &entry->image;
	bool packed = image->flags & (FATBIN_ZSTD | FATBIN_LZ4);
	size_t room = packed ? image->size : image->padded;
	char *to;

	*why = NULL;
	if (image->zero) {	/* nvcc does this to LTO code: it is the key */
		*why = "encrypted";
		return NULL;
	}
	if (room > UNPACKED_MAX) {
		*why = "larger than 1 GiB";
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
