/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* CUDA's container of images ("fat binary"): find it, take PTX out, put other PTX in.  The format is not
 * documented; as nvcc 11 to 13 write it.  All of it is hostile: every size and offset is checked. */
#ifndef PTX_FATBIN_H
#define PTX_FATBIN_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FATBIN_MAGIC   0xba55ed50u	/* a container */
#define FATBIN_WRAPPER 0x466243b1u	/* what programs pass: __fatBinC_Wrapper_t of fatbinary_section.h */

struct fatbin_wrapper {
	uint32_t magic, version;
	uint64_t data, more;
};

struct fatbin_header {
	uint32_t magic;
	uint16_t version, header;
	uint64_t size;		/* without this header */
};

enum fatbin_kind { FATBIN_PTX = 1, FATBIN_ELF = 2, FATBIN_LTO = 8 };
enum fatbin_flags {
	FATBIN_DEBUG = 0x2, FATBIN_LZ4 = 0x2000, FATBIN_ZSTD = 0x8000, FATBIN_ARCH_A = 0x100000, FATBIN_ARCH_F = 0x200000,
};

/* An image's header in the file; it is header bytes long, 64 or more, with names and ptxas's options behind. */
struct fatbin_image {
	uint16_t kind, version;
	uint32_t header;
	uint64_t padded;	/* bytes of the payload, padded to 8 */
	uint32_t packed;	/* bytes of the compressed payload; 0: not compressed */
	uint32_t options;	/* where ptxas's options are, from the header's beginning; 0: none */
	uint16_t minor, major;	/* of PTX, or of the cubin's ABI */
	uint32_t sm;		/* 75, 80 … */
	uint32_t name, name_size;
	uint64_t flags;
	uint64_t zero;
	uint64_t size;		/* unpacked; 0: not compressed */
};

/* An image in a container that is in memory. */
struct fatbin_entry {
	struct fatbin_image image;
	const char *header;	/* image.header bytes */
	const char *payload;	/* image.padded bytes */
};

/* Returns the bytes of the container at p, of which size bytes may be read; 0 if it is none. */
size_t fatbin_size(const void *p, size_t size);

/* Finds the first container at or after *at in a file's contents (they are aligned to 8); returns its bytes and
 * sets *at, or returns 0. */
size_t fatbin_find(const void *file, size_t size, size_t *at);

/* The container's next image, *at being 0 at first: 1, 0 at the end, -1 if malformed. */
int fatbin_next(const void *container, size_t size, size_t *at, struct fatbin_entry *entry);

/* Returns the payload, unpacked, with a 0 after it, to be freed; or NULL and *why. */
char *fatbin_unpack(const struct fatbin_entry *entry, size_t *size, const char **why);

/* A file of a megabyte can have images of terabytes.  Returns how many bytes may be unpacked of one. */
size_t fatbin_room(size_t file_size);

/* fatbin_unpack(), which takes the image's size from *room; once it is more, *room is 0. */
char *fatbin_unpack_within(const struct fatbin_entry *entry, size_t *room, size_t *size, const char **why);

struct fatbin_edit {
	/* Returns new text for a PTX image, malloc'd, and *size; NULL: leaves it as it is. */
	char *(*ptx)(void *ctx, const struct fatbin_image *image, const char *text, size_t *size);
	void *ctx;
	unsigned sm;		/* the device's: PTX that it cannot run is kept as it is; 0: any */
	bool pack;		/* compress what is new with zstd */
	size_t *room;		/* of fatbin_unpack_within(); NULL: any number of bytes */
	size_t max;		/* bytes of the new container; 0: any number */
};

/* Returns a container with new PTX and without the machine code that the driver would prefer to it; to be
 * freed.  NULL if no image was changed, if it would be larger than edit->max: then *new_size is larger, or if it is
 * malformed: then *why is not NULL. */
void *fatbin_edit(const void *container, size_t size, const struct fatbin_edit *edit, size_t *new_size,
		  const char **why);

/* Return true if a device can run PTX of this image ("a": the same sm; "f": the same family). */
bool fatbin_runs(const struct fatbin_image *image, unsigned sm);

#endif
