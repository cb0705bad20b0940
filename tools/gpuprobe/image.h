/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What an image is, and the same with probes. */
#ifndef GPUPROBE_IMAGE_H
#define GPUPROBE_IMAGE_H
#include "gpuprobe/image_job.h"

/* Puts probes into an image, of which size bytes may be read; 0: as many as it says itself.  sm: the device's, 0 if it
 * is not known.  image_free() afterwards. */
void image_rewrite(struct image *out, struct inject *inject, const void *image, size_t size, unsigned sm,
		   struct registers *registers);
void image_why(struct image *image, const char *why);
void image_free(struct image *image);

#endif
