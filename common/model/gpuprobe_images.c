/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "base/die.h"
#include "model/gpuprobe_images.h"

/* A text is for people: what is longer is cut. */
enum { TEXT_MAX = 4096 };

static void add_text(struct gpuprobe_image_count *c, const char *text, size_t n)
{
	char *copy = xcalloc(1, n + 1);
	unsigned i = 0;

	memcpy(copy, text, n);
	while (i < c->num_texts && strcmp(c->text[i].text, copy))
		i++;
	if (i < c->num_texts || i == GPU_IMAGE_TEXTS)
		free(copy);
	else
		c->text[c->num_texts++].text = copy;
	if (i < GPU_IMAGE_TEXTS)
		c->text[i].images++;
}

const char *gpuprobe_images_add(struct gpuprobe_images *all, const void *frame, size_t size)
{
	const struct gpuprobe_image *image = frame;
	struct gpuprobe_image_count *c;

	if (size < sizeof(*image) || image->text_size != size - sizeof(*image))
		return "it told of an image in a wrong size";
	if (image->status >= GPUPROBE_STATUSES)
		return "it told of an image with an unknown status";
	c = &all->by[image->status];
	all->images++;
	c->images++;
	c->kernels += image->kernels;
	c->sites += image->sites;
	c->fewer_warps += image->fewer_warps;
	c->ns += image->ns;
	c->size += image->size;
	c->rewritten += image->rewritten;
	if (image->text_size)
		add_text(c, (const char *)(image + 1), image->text_size < TEXT_MAX ? image->text_size : TEXT_MAX);
	return NULL;
}

void gpuprobe_images_free(struct gpuprobe_images *all)
{
	for (int i = 0; i < GPUPROBE_STATUSES; i++)
		for (unsigned k = 0; k < all->by[i].num_texts; k++)
			free(all->by[i].text[k].text);
}
