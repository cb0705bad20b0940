/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <limits.h>
#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include "ptx/fatbin.h"

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
