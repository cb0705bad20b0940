/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
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
